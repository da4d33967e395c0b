'use strict';
// The other end of child.js.

/** Sends `ready`, then what `work` makes of each message, or `{error}`. Ends with the channel. */
function answerParent(work) {
  process.on('message', (message) => {
    work(message).then(
      (answer) => process.send(answer),
      (error) => process.send({ error: error.message }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send({ ready: true });
}

module.exports = { answerParent };
