'use strict';
/** Workflow code of a bad deployment: whoever loads it fails. */
throw new Error('a bad deployment');
