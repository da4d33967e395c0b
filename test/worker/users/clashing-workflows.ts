/** The user's own of a name of ours. */
export async function generateVideo(): Promise<string> {
  return 'a storyboard';
}
