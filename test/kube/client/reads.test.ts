import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import {
  type Answer,
  createClientBed,
  failing,
  listAnswer,
  NODES,
  status,
} from '../../support/kube/client-bed.ts';

describe('pages', () => {
  it('are read to the end', async () => {
    const { client, sent } = createClientBed(
      listAnswer([{ metadata: { name: 'a' } }], { resourceVersion: '9', continue: 'x' }),
      listAnswer([{ metadata: { name: 'b' } }], { resourceVersion: '9', continue: 'y' }),
      listAnswer([{ metadata: { name: 'c' } }], { resourceVersion: '9', continue: '' }),
    );
    expect(await all(client)).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ query }) => [query?.['limit'], query?.['continue']])).toEqual([
      ['1', undefined],
      ['1', 'x'],
      ['1', 'y'],
    ]);
  });

  it.each<[string, Answer | KubeError, KubeErrorCode]>([
    ['an expired page', status(410, 'Expired'), 'Gone'],
    ['a page with another resourceVersion', listAnswer([], { resourceVersion: '10' }), 'BadAnswer'],
    ['a page that was cut off', new KubeError('Unreachable', 'reset'), 'Unreachable'],
  ])('reject for %s', async (_, answer, code) => {
    const { client } = createClientBed(
      listAnswer([{ metadata: { name: 'a' } }], { resourceVersion: '9', continue: 'x' }),
      answer,
    );
    expect((await failing(all(client))).code).toBe(code);
  });
});

async function all(client: Client): Promise<string[]> {
  const names: string[] = [];
  for await (const { items } of client.pages(NODES, { limit: 1 })) {
    names.push(...items.map(({ metadata }) => metadata.name));
  }
  return names;
}
