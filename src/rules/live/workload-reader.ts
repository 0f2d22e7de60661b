/**
 * Reads the Pods of a node when a rule asks about them, and keeps a summary. A watch of all Pods would be the largest view of the process,
 * for the few nodes that have a fault.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../kube/client/client.ts';
import { PODS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import type { KnownWorkload } from '../facts/reading/snapshot.ts';
import { summarizeWorkload, type Workload } from '../facts/reading/workload.ts';

export interface WorkloadReader {
  /** Returns what was read last, and reads again what is too old, in the background. */
  readonly ask: (node: string) => KnownWorkload | undefined;
  /** Returns what was read last. */
  readonly peek: (node: string) => KnownWorkload | undefined;
  readonly refresh: (node: string) => Promise<void>;
  /** Calls the listener when the summary of a node changed. Returns a function that ends this. */
  readonly onChange: (listener: (node: string) => void) => () => void;
  readonly close: () => void;
}

export interface WorkloadReaderOptions {
  readonly client: Pick<Client, 'pages'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'warn'>;
}

/** A Pod may start on the node at any time: a fact is about as old as others that agents report. */
export const READ_AGAIN_MS = 15_000;
/** A summary that was not asked for since then is forgotten. */
const FORGET_MS = 300_000;
const MAX_READS = 4;

interface Summary {
  readonly answer: KnownWorkload['answer'];
  readonly atMs: number;
}

export function createWorkloadReader({ client, clock, log }: WorkloadReaderOptions): WorkloadReader {
  const summaries = new Map<string, Summary>();
  const listeners = new Set<(node: string) => void>();
  /** The nodes that are read, or wait for their turn. */
  const asked = new Set<string>();
  const waiting: string[] = [];
  const stop = new AbortController();
  let reads = 0;
  return {
    peek,
    refresh,
    ask: (node) => {
      const known = peek(node);
      if (known === undefined || known.ageMs >= READ_AGAIN_MS) enqueue(node);
      return known;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => stop.abort(),
  };

  function peek(node: string): KnownWorkload | undefined {
    const known = summaries.get(node);
    const ageMs = clock.monotonicMs() - (known?.atMs ?? 0);
    return known && ageMs <= FORGET_MS ? { answer: known.answer, ageMs } : undefined;
  }

  function enqueue(node: string): void {
    if (asked.has(node) || stop.signal.aborted) return;
    asked.add(node);
    waiting.push(node);
    startNext();
  }

  function startNext(): void {
    if (reads >= MAX_READS) return;
    const node = waiting.shift();
    if (node === undefined) return;
    reads += 1;
    void refresh(node).finally(() => {
      reads -= 1;
      asked.delete(node);
      startNext();
    });
  }

  async function refresh(node: string): Promise<void> {
    // A list shows the state at its start.
    const atMs = clock.monotonicMs();
    const answer = await readWorkload(client, node, stop.signal).catch((error: unknown) => ({
      problem: messageOf(error),
    }));
    if (stop.signal.aborted) return;
    // One that was forgotten is not known to the rules: the same summary is news.
    const before = peek(node);
    summaries.set(node, { answer, atMs });
    for (const [name, summary] of summaries) if (atMs - summary.atMs > FORGET_MS) summaries.delete(name);
    if (before && isDeepStrictEqual(before.answer, answer)) return;
    if ('problem' in answer) log.warn('Pods of a node cannot be read', { node, problem: answer.problem });
    for (const listener of listeners) listener(node);
  }
}

async function readWorkload(
  client: Pick<Client, 'pages'>,
  node: string,
  signal: AbortSignal,
): Promise<Workload> {
  const pods: KubeObject[] = [];
  const fieldSelector = `spec.nodeName=${node}`;
  for await (const { items } of client.pages(PODS, { fieldSelector, signal })) pods.push(...items);
  return summarizeWorkload(pods);
}
