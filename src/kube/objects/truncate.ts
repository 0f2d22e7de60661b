/** Truncates to a length in code points, as the API server counts. */
export function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  const points = Array.from(text);
  return points.length <= length ? text : `${points.slice(0, length - 1).join('')}…`;
}
