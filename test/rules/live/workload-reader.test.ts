import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import {
  createWorkloadReader,
  READ_AGAIN_MS,
  type WorkloadReader,
} from '../../../src/rules/live/workload-reader.ts';

const BLOCKING = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'shop', labels: { 'kubenode.dev/block': 'true' } },
};

type Answer = readonly KubeObject[] | Error;

interface Bed {
  readonly reader: WorkloadReader;
  /** The selectors of the lists that wait for an answer. */
  readonly open: string[];
  readonly changed: string[];
  readonly warnings: string[];
  nowMs: number;
  /** Answers the oldest list. */
  answer(answer: Answer): Promise<void>;
}

function start(): Bed {
  const lists: PromiseWithResolvers<Answer>[] = [];
  const bed = { open: [] as string[], changed: [] as string[], warnings: [] as string[], nowMs: 0 };
  async function* pages(_: unknown, options?: { readonly fieldSelector?: string }) {
    const list = Promise.withResolvers<Answer>();
    lists.push(list);
    bed.open.push(options?.fieldSelector ?? '');
    const answer = await list.promise;
    if (answer instanceof Error) throw answer;
    yield { items: answer, resourceVersion: '1' };
  }
  const client = { pages } as unknown as Pick<Client, 'pages'>;
  const log = {
    warn: (message: string, fields?: object) => {
      bed.warnings.push(`${message} ${JSON.stringify(fields)}`);
    },
  };
  const reader = createWorkloadReader({ client, log, clock: { monotonicMs: () => bed.nowMs } });
  reader.onChange((node) => bed.changed.push(node));
  return Object.assign(bed, {
    reader,
    answer: async (answer: Answer) => {
      bed.open.shift();
      lists.shift()?.resolve(answer);
      await new Promise(setImmediate);
    },
  });
}

describe('createWorkloadReader', () => {
  it('reads a node once for those who ask at the same time, and reports what it found', async () => {
    const bed = start();
    expect([bed.reader.ask('n'), bed.reader.ask('n')]).toEqual([undefined, undefined]);
    expect(bed.open).toEqual(['spec.nodeName=n']);
    await bed.answer([BLOCKING]);
    expect(bed.changed).toEqual(['n']);
    expect(bed.reader.ask('n')).toEqual({
      answer: { gangPresent: false, localData: false, blockers: 1 },
      ageMs: 0,
    });
    expect(bed.open).toEqual([]);
  });

  it('reads again what is old, and reports a change only', async () => {
    const bed = start();
    bed.reader.ask('n');
    await bed.answer([]);
    bed.nowMs = READ_AGAIN_MS - 1;
    bed.reader.ask('n');
    expect(bed.open).toEqual([]);
    bed.nowMs = READ_AGAIN_MS;
    expect(bed.reader.ask('n')?.ageMs).toBe(READ_AGAIN_MS);
    expect(bed.open).toEqual(['spec.nodeName=n']);
    bed.nowMs += 100;
    await bed.answer([]);
    expect(bed.changed).toEqual(['n']);
    expect(bed.reader.peek('n')?.ageMs).toBe(100);
    bed.nowMs += READ_AGAIN_MS;
    bed.reader.ask('n');
    await bed.answer([BLOCKING]);
    expect(bed.changed).toEqual(['n', 'n']);
  });

  it('does not read for those who only look', () => {
    const bed = start();
    expect(bed.reader.peek('n')).toBeUndefined();
    expect(bed.open).toEqual([]);
  });

  it('reads four nodes at a time, and the next one when one of them is done', async () => {
    const bed = start();
    for (const node of ['a', 'b', 'c', 'd', 'e']) bed.reader.ask(node);
    expect(bed.open.map((selector) => selector.at(-1))).toEqual(['a', 'b', 'c', 'd']);
    await bed.answer([]);
    expect(bed.open.map((selector) => selector.at(-1))).toEqual(['b', 'c', 'd', 'e']);
  });

  it('R1 knows nothing where a list fails, and tries it again later', async () => {
    const bed = start();
    bed.reader.ask('n');
    await bed.answer(new Error('forbidden'));
    expect(bed.reader.ask('n')?.answer).toEqual({ problem: 'forbidden' });
    expect(bed.warnings).toEqual(['Pods of a node cannot be read {"node":"n","problem":"forbidden"}']);
    expect(bed.open).toEqual([]);
    bed.nowMs = READ_AGAIN_MS;
    bed.reader.ask('n');
    await bed.answer([]);
    expect(bed.reader.peek('n')?.answer).toMatchObject({ blockers: 0 });
  });

  it('R1 reports the same summary again after it was forgotten, so that the rule does not wait for another change', async () => {
    const bed = start();
    bed.reader.ask('n');
    await bed.answer([BLOCKING]);
    bed.nowMs = 300_001;
    expect(bed.reader.ask('n')).toBeUndefined();
    await bed.answer([BLOCKING]);
    expect(bed.changed).toEqual(['n', 'n']);
  });

  it('forgets after five minutes, and reads nothing once it is closed', async () => {
    const bed = start();
    bed.reader.ask('n');
    await bed.answer([]);
    bed.nowMs = 300_001;
    expect(bed.reader.peek('n')).toBeUndefined();
    bed.reader.close();
    bed.reader.ask('n');
    expect(bed.open).toEqual([]);
  });
});
