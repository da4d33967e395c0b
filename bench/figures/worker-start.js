'use strict';
module.exports = {
  title: 'todo',
  run: async () => {
    throw new Error('todo');
  },
};
