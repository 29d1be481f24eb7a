"""Who may use the web app: start token, accounts, permissions, throttling."""
