#!/usr/bin/env node
'use strict';
// npm links a command when it installs, which in a clone is before the build: this file is there by then.
require('../lib/start-server.js');
