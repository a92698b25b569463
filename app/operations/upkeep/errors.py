class OperationFailed(Exception):
    """An operation failed; the message tells the operator why in one line."""
