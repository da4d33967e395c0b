/** Name of the error of a bundle that cannot join workflows: it crosses from the sandbox by name only. */
export const NOT_JOINED = 'WorkflowsNotJoined';

export function notJoined(message: string): Error {
  const error = new Error(message);
  error.name = NOT_JOINED;
  return error;
}
