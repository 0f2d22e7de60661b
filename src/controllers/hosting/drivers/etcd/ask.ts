/** Sends one request to the JSON gateway of an etcd, and verifies the shape of the answer. */
import { z } from 'zod';
import { type ProbeEndpoint, sendProbe } from '../../../../local/processes/probe.ts';

/** Parses a 64-bit integer, which is a string in the JSON of etcd. A zero is left out of an answer. */
export const etcdInteger = z.string().regex(/^\d+$/).transform(Number);
/** Accepts an answer of which nothing is read. */
export const anyAnswer = z.object({});

export interface EtcdRequest<T> {
  readonly shape: z.ZodType<T>;
  readonly body?: object;
  readonly timeoutMs?: number;
}

/** Rejects with the answer unless it is the one that was expected. */
export async function askEtcd<T>(
  endpoint: ProbeEndpoint,
  path: string,
  { shape, body = {}, ...limits }: EtcdRequest<T>,
): Promise<T> {
  const url = `${endpoint.url}${path}`;
  const options = { method: 'POST', body: JSON.stringify(body), ...limits } as const;
  const answer = await sendProbe({ ...endpoint, url }, options);
  const { data } = shape.safeParse(parseEtcdAnswer(answer.body));
  if (answer.status === 200 && data !== undefined) return data;
  throw new Error(`${url} answered ${answer.status}: ${answer.body.slice(0, 200)}`);
}

/** Returns undefined for a text that is not JSON. */
export function parseEtcdAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
