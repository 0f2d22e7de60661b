/** Asks an etcd by its JSON gateway: the state of its keys, and a snapshot of its database. */
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import { optional } from '../../../../kube/objects/optional.ts';
import type { ProbeEndpoint } from '../../../../local/processes/probe.ts';
import { PRIVATE_MODE, toDiskError } from '../../../../os/files.ts';
import { askEtcd, etcdInteger, parseEtcdAnswer } from './ask.ts';

export interface KeyState {
  readonly revision: number;
  /** The number of keys at that revision. */
  readonly keys: number;
}

const rangeAnswer = z.object({ header: z.object({ revision: etcdInteger }), count: etcdInteger.optional() });
const line = z.object({
  result: z.object({ blob: z.string().optional() }).optional(),
  error: z.object({ message: z.string().optional() }).optional(),
});

/** A zero byte as first and last key selects every key. */
const EVERY_KEY = { key: 'AA==', range_end: 'AA==', count_only: true };
const RANGE = '/v3/kv/range';
const SNAPSHOT_MS = 600_000;
const SUM_BYTES = 32;

/** Counts the keys, now or as they were at a revision. */
export async function readKeyState(endpoint: ProbeEndpoint, revision?: number): Promise<KeyState> {
  const body = { ...EVERY_KEY, ...optional('revision', revision?.toString()) };
  const { header, count = 0 } = await askEtcd(endpoint, RANGE, { shape: rangeAnswer, body });
  return { revision: header.revision, keys: count };
}

export interface KeyRange {
  readonly prefix: string;
  readonly revision: number;
}

/** Counts the keys that begin so, as they were at a revision. */
export async function countKeys(endpoint: ProbeEndpoint, range: KeyRange): Promise<number> {
  const body = { ...rangeOf(range), count_only: true };
  return (await askEtcd(endpoint, RANGE, { shape: rangeAnswer, body })).count ?? 0;
}

const keysAnswer = z.object({ kvs: z.array(z.object({ key: z.string() })).optional() });
const KEYS_MS = 60_000;

/** Returns the key that comes after so many others, in the order of etcd. Undefined: there are fewer. */
export async function keyAt(
  endpoint: ProbeEndpoint,
  range: KeyRange,
  index: number,
): Promise<string | undefined> {
  const body = { ...rangeOf(range), keys_only: true, limit: String(index + 1) };
  const { kvs = [] } = await askEtcd(endpoint, RANGE, { shape: keysAnswer, body, timeoutMs: KEYS_MS });
  const key = kvs[index]?.key;
  return key === undefined ? undefined : Buffer.from(key, 'base64').toString('utf8');
}

function rangeOf({ prefix, revision }: KeyRange): object {
  const [key, end] = [Buffer.from(prefix), Buffer.from(prefix)];
  const last = end.length - 1;
  end.writeUInt8(end.readUInt8(last) + 1, last);
  return {
    key: key.toString('base64'),
    range_end: end.toString('base64'),
    revision: String(revision),
    ...IN_ORDER,
  };
}

const IN_ORDER = { sort_order: 'ASCEND', sort_target: 'KEY' };

const valueAnswer = z.object({ kvs: z.array(z.object({ value: z.string().optional() })).optional() });

/** Returns the digest of the value of a key at a revision. Undefined: the key did not exist. */
export async function readValueDigest(
  endpoint: ProbeEndpoint,
  { key, revision }: { readonly key: string; readonly revision: number },
): Promise<string | undefined> {
  const body = { key: Buffer.from(key).toString('base64'), revision: String(revision) };
  const { kvs = [] } = await askEtcd(endpoint, RANGE, { shape: valueAnswer, body });
  const [found] = kvs;
  return (
    found &&
    createHash('sha256')
      .update(found.value ?? '')
      .digest('hex')
  );
}

/** Writes the database of etcd to a file. Rejects unless it is complete, by the checksum that etcd sends after it. */
export async function saveDatabase(
  endpoint: ProbeEndpoint,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const incoming = await openSnapshot(endpoint, signal);
  const file = createWriteStream(path, { mode: PRIVATE_MODE, flush: true });
  const failed = new Promise<never>((_, reject) =>
    file.once('error', (error) => reject(toDiskError(error, path))),
  );
  failed.catch(() => undefined);
  const sum = createHash('sha256');
  let held = Buffer.alloc(0);
  try {
    for await (const text of createInterface({ input: incoming, crlfDelay: Number.POSITIVE_INFINITY })) {
      const all = Buffer.concat([held, blobOf(text)]);
      // The last bytes are the checksum, and which are the last is known at the end only.
      const content = all.subarray(0, Math.max(all.length - SUM_BYTES, 0));
      held = all.subarray(content.length);
      sum.update(content);
      if (file.write(content)) continue;
      await Promise.race([new Promise((resolve) => file.once('drain', resolve)), failed]);
    }
    if (!incoming.complete) throw new Error('the connection ended in the middle');
    checkSum(sum, held);
    file.end();
    await Promise.race([finished(file), failed]);
  } finally {
    incoming.destroy();
    file.destroy();
  }
}

function blobOf(text: string): Buffer {
  const { data } = line.safeParse(parseEtcdAnswer(text));
  if (!data?.result) throw new Error(`etcd sent no snapshot: ${data?.error?.message ?? text.slice(0, 200)}`);
  return Buffer.from(data.result.blob ?? '', 'base64');
}

function checkSum(sum: Hash, expected: Buffer): void {
  if (expected.length === SUM_BYTES && sum.digest().equals(expected)) return;
  throw new Error('the database does not have the checksum that etcd sent with it');
}

function openSnapshot(
  { url, caPem, client }: ProbeEndpoint,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  const limit = AbortSignal.timeout(SNAPSHOT_MS);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/v3/maintenance/snapshot`,
      {
        method: 'POST',
        ca: caPem,
        ...(client ? { cert: client.certPem, key: client.keyPem } : {}),
        agent: false,
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
        headers: { 'content-type': 'application/json' },
      },
      (incoming) => {
        if (incoming.statusCode === 200) resolve(incoming);
        else {
          incoming.resume();
          reject(new Error(`${url} answered ${incoming.statusCode} to the request for a snapshot`));
        }
      },
    );
    outgoing.on('error', reject);
    outgoing.end('{}');
  });
}
