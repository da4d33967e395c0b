/** In the prompt of a video whose workflow is to fail at the end of its first attempt. */
export const FAILS_ONCE = 'whose first attempt fails at its end';
