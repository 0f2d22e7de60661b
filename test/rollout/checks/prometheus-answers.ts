/** Answers of the HTTP API of Prometheus to an instant query. */
import { NOW } from '../builders.ts';

export function answer(data: unknown, more: object = {}): string {
  return JSON.stringify({ status: 'success', data, ...more });
}

export function vector(...values: readonly string[]): string {
  const result = values.map((value) => ({ metric: {}, value: [+NOW / 1000, value] }));
  return answer({ resultType: 'vector', result });
}

export function scalar(value: string): string {
  return answer({ resultType: 'scalar', result: [+NOW / 1000, value] });
}
