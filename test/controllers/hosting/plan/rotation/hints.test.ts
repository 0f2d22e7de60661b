import { describe, expect, it } from 'vitest';
import { type Remedy, remedyHint } from '../../../../../src/controllers/hosting/plan/rotation/hints.ts';

const NAMES: Readonly<Partial<Record<Remedy, string>>> = { Fill: 'Secret default/bot', Reach: 'sync' };

function hint(...remedies: readonly Remedy[]): string {
  return remedyHint(remedies.map((remedy) => ({ name: NAMES[remedy] ?? 'Machine m-1', remedy })));
}

const RETURN = 'bring agents back that are silent, or delete their Machines';
const GRANT = 'kubenode why machine m-1 shows what its restart waits for';
const JOIN = 'make a new token: kubenode machine token m-1';
const TIME = 'nothing to do for some minutes';

describe('what moves the clients of a rotation', () => {
  it.each<[what: string, remedies: readonly Remedy[], expected: string]>([
    ['an agent that is silent', ['Return'], RETURN],
    ['an agent that has not joined', ['Join'], JOIN],
    ['a kubelet that was not restarted', ['Grant'], GRANT],
    ['an agent that refuses what is published', ['Correct'], 'solve what the agent of m-1 refuses'],
    ['one that can never follow', ['Replace'], 'change or remove what cannot follow'],
    ['a token', ['Fill'], 'delete the key `token` of each Secret: it is filled again'],
    [
      'sync',
      ['Reach'],
      'sync has to reach the cluster with its new kubeconfig, which it reports within five minutes',
    ],
    ['clients that move by themselves', ['Wait', 'Wait'], TIME],
    ['one kind once, and no time beside it', ['Wait', 'Return', 'Return'], RETURN],
    ['two kinds', ['Grant', 'Return'], `${RETURN}; ${GRANT}`],
    ['as many kinds as leave room for the names', ['Join', 'Reach', 'Return', 'Fill'], `${RETURN}; ${JOIN}`],
  ])('HOS-22 names what a person can do: %s', (_, remedies, expected) => {
    expect(hint(...remedies)).toBe(expected);
  });
});
