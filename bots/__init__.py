"""The bots that come with magsim, one module a bot; they register as any third party's would."""
