import { describe, expect, it } from 'vitest';
import type { ShownLines } from '../../../src/demo/start/fleet-lines.ts';
import { createHubReader, type HubReader } from '../../../src/demo/start/hub-reader.ts';
import type { Client } from '../../../src/kube/client/client.ts';

const BEFORE: ShownLines = new Map([['prod', '  prod  Proven']]);

/** A hub that answers as these say, in turn. What happened to connections is in `calls`. */
function readerOf(...answers: readonly (string | Error)[]): {
  readonly reader: HubReader;
  readonly calls: string[];
  readonly end: AbortController;
} {
  const [calls, end]: [string[], AbortController] = [[], new AbortController()];
  const left = [...answers];
  let connections = 0;
  const reader = createHubReader({
    signal: end.signal,
    connect: () => {
      connections += 1;
      const name = connections;
      calls.push(`connect ${name}`);
      const close = (): Promise<void> => Promise.resolve(void calls.push(`close ${name}`));
      return Promise.resolve({ server: String(name), close } as Partial<Client> as Client);
    },
    read: ({ server }) => {
      calls.push(`read ${server}`);
      const answer = left.shift() ?? new Error('no answer is left');
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(new Map([['hub', answer]]));
    },
  });
  return { reader, calls, end };
}

describe('createHubReader', () => {
  it('reads again over the same connection, and closes it at the end', async () => {
    const { reader, calls } = readerOf('one', 'two');
    expect([await reader.next(BEFORE), await reader.next(BEFORE)]).toEqual([
      new Map([['hub', 'one']]),
      new Map([['hub', 'two']]),
    ]);
    await reader.close();
    expect(calls).toEqual(['connect 1', 'read 1', 'read 1', 'close 1']);
  });

  it('shows why the hub cannot be read, and connects again', async () => {
    const { reader, calls } = readerOf('one', new Error('connection refused'), 'back');
    await reader.next(BEFORE);
    expect((await reader.next(BEFORE)).get('hub')).toBe('  hub: error: connection refused');
    expect(await reader.next(BEFORE)).toEqual(new Map([['hub', 'back']]));
    expect(calls).toEqual(['connect 1', 'read 1', 'read 1', 'close 1', 'connect 2', 'read 2']);
  });

  it('keeps the lines when the command ends during a read', async () => {
    const { reader, end } = readerOf(new Error('aborted'));
    end.abort();
    expect(await reader.next(BEFORE)).toBe(BEFORE);
  });
});
