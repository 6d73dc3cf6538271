/** One value, for those who read a sequence. */
export async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
