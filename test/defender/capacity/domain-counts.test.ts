import { describe, expect, it } from 'vitest';
import {
  createDomainCounter,
  type DomainQuestion,
  type Placed,
} from '../../../src/defender/capacity/domain-counts.ts';
import { capacityNode } from '../../../src/defender/capacity/node.ts';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import { nodeOf, podOf } from './builders.ts';

const RACK = 'rack';
const [A, B, C] = ['r1', 'r2', undefined].map((rack, index) =>
  capacityNode(nodeOf(`n-${index}`, { labels: rack === undefined ? {} : { rack } })),
);
const [API, DB] = ['api-1', 'db-1'].map((name) => capacityPod(podOf(name, 'n-0', {})));

function bed() {
  const nodes = [A, B, C].flatMap((node) => node ?? []);
  const moved: Placed[] = [];
  const counter = createDomainCounter({
    nodes: () => nodes,
    nodeOf: ({ name }) => (name === 'web/api-1' ? A : undefined),
    moved,
  });
  const asked = { pods: 0 };
  const question: DomainQuestion = {
    key: 'q',
    pods: () => {
      asked.pods += 1;
      return [API, DB].flatMap((pod) => pod ?? []);
    },
    isCounted: () => true,
    domainOf: ({ labels }) => labels[RACK],
  };
  return { counter, moved, asked, question };
}

describe('createDomainCounter', () => {
  it('R28 counts Pods that stay once, and those that are placed after each of them', () => {
    const { counter, moved, asked, question } = bed();
    expect([...counter.count(question)]).toEqual([['r1', { count: 1, example: 'web/api-1' }]]);
    if (DB && B && C) moved.push([DB, B], [DB, C], [DB, B]);
    expect([...counter.count(question)]).toEqual([
      ['r1', { count: 1, example: 'web/api-1' }],
      ['r2', { count: 2, example: 'web/db-1' }],
    ]);
    expect([...counter.count(question)]).toHaveLength(2);
    expect(asked.pods).toBe(1);
  });

  it('R28 counts of the placed Pods only those that the question means', () => {
    const { counter, moved, question } = bed();
    if (DB && B) moved.push([DB, B]);
    const meant = { ...question, isCounted: ({ name }: { name: string }) => name === 'web/api-1' };
    expect([...counter.count(meant).keys()]).toEqual(['r1']);
  });

  it('R28 knows the domains of nodes without Pods', () => {
    const { counter, question } = bed();
    expect([...counter.domains(question)]).toEqual(['r1', 'r2']);
  });
});
