# Run in PowerShell as an administrator. Windows runs the server as a task that starts with the
# machine. To run it as a service instead, wrap the same command with NSSM or WinSW.
$to = "C:\Flagstaff"
py -3 -m venv $to
& "$to\Scripts\pip" install --no-index --find-links wheels --no-deps --require-hashes -r wheels\requirements.txt
icacls $to /inheritance:r /grant "Administrators:(OI)(CI)F" "LOCAL SERVICE:(OI)(CI)M"
[Environment]::SetEnvironmentVariable("FLAGSTAFF_HOME", "$to\data", "Machine")
[Environment]::SetEnvironmentVariable("FLAGSTAFF_BASE_URL", "{{ base_url }}", "Machine")
[Environment]::SetEnvironmentVariable("FLAGSTAFF_PORT", "{{ port }}", "Machine")
$serve = New-ScheduledTaskAction -Execute "$to\Scripts\flagstaff.exe" -Argument "serve"
$always = New-ScheduledTaskSettingsSet -RestartCount 99 -RestartInterval (New-TimeSpan -Minutes 1) `
    -ExecutionTimeLimit ([TimeSpan]::Zero)
Register-ScheduledTask "Flagstaff" -Action $serve -Settings $always `
    -Trigger (New-ScheduledTaskTrigger -AtStartup) -User "LOCAL SERVICE"
Start-ScheduledTask "Flagstaff"
