/** A user's only workflow, without any of the package. */
export async function greet(name: string): Promise<string> {
  return `Good evening, ${name}`;
}
