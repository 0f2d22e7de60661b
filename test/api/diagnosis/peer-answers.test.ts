import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isReached, judgePeerAnswers } from '../../../src/api/diagnosis/peer-answers.ts';
import { PEER_RESULTS, type PeerResult } from '../../../src/api/enums.ts';
import type { MachineSilence, PeerAnswer } from '../../../src/api/generated/types.ts';
import { ago, NOW } from '../../support/builders.ts';

const RESULTS: Readonly<Record<string, PeerResult>> = {
  k: 'KubeletAnswers',
  o: 'PortOpen',
  r: 'Refused',
  n: 'NoAnswer',
  u: 'Unknown',
};
const SINCE = ago(60);

function answer(result: PeerResult, parts: Partial<PeerAnswer> = {}): PeerAnswer {
  const times = { requestedAt: SINCE, since: ago(50), lastProbeTime: ago(20) };
  return { machine: 's-1', result, ...times, ...parts };
}

/** A letter is what a peer answered; a dot is one that did not. */
function judged(letters: string, parts: Partial<PeerAnswer> = {}, names?: readonly string[]) {
  const peers = names ?? letters.split('').map((_, index) => `p-${index + 1}`);
  const silence: MachineSilence = { address: '10.0.0.1', port: 10_250, since: SINCE, peers: [...peers] };
  const answers = new Map(
    letters.split('').flatMap((letter, index) => {
      const result = RESULTS[letter];
      return result ? [[peers[index] ?? '', [answer(result, parts)]] as const] : [];
    }),
  );
  return judgePeerAnswers({ name: 's-1', silence }, (peer) => answers.get(peer), NOW);
}

describe('judgePeerAnswers', () => {
  it.each<[letters: string, result: PeerResult, peers: readonly string[]]>([
    ['nnnnnn', 'NoAnswer', ['p-1', 'p-2', 'p-3', 'p-4', 'p-5', 'p-6']],
    ['nnnn..', 'NoAnswer', ['p-1', 'p-2', 'p-3', 'p-4']],
    ['nnnnuu', 'NoAnswer', ['p-1', 'p-2', 'p-3', 'p-4']],
    // Half is not a majority.
    ['nnn...', 'Unknown', []],
    ['nnnuuu', 'Unknown', []],
    ['nn.', 'NoAnswer', ['p-1', 'p-2']],
    ['n..', 'Unknown', []],
    // Two peers are too few, also when both agree.
    ['nn', 'Unknown', []],
    ['rr', 'Unknown', []],
    ['rrrr..', 'Refused', ['p-1', 'p-2', 'p-3', 'p-4']],
    ['rrrnnn', 'NoAnswer', ['p-1', 'p-2', 'p-3', 'p-4', 'p-5', 'p-6']],
    ['rnnn..', 'NoAnswer', ['p-1', 'p-2', 'p-3', 'p-4']],
    // One that reaches it is enough.
    ['nnnnno', 'PortOpen', ['p-6']],
    ['k.', 'KubeletAnswers', ['p-1']],
    ['okkrn.', 'KubeletAnswers', ['p-2', 'p-3']],
    ['......', 'Unknown', []],
    ['uuuuuu', 'Unknown', []],
  ])('R20 concludes from the answers %s of the peers: %s', (letters, result, peers) => {
    expect(judged(letters)).toEqual({ result, peers });
  });

  it.each<[what: string, parts: Partial<PeerAnswer>, result: PeerResult]>([
    ['counts an answer of five minutes ago', { lastProbeTime: ago(300) }, 'NoAnswer'],
    ['does not count an older one', { lastProbeTime: ago(301) }, 'Unknown'],
    ['counts one of a clock that is half a minute ahead', { lastProbeTime: ago(-30) }, 'NoAnswer'],
    ['does not count one of a clock that is further ahead', { lastProbeTime: ago(-31) }, 'Unknown'],
    ['does not count a time that cannot be read', { lastProbeTime: 'soon' }, 'Unknown'],
    ['does not count an answer to an earlier silence', { requestedAt: ago(61) }, 'Unknown'],
    ['does not count an answer about another machine', { machine: 's-2' }, 'Unknown'],
  ])('R20 judges one answer of a peer: %s', (_, parts, result) => {
    expect(judged('nnn', parts).result).toBe(result);
    // A stale answer does not protect the machine either.
    expect(judged('k..', parts).result).toBe(result === 'NoAnswer' ? 'KubeletAnswers' : 'Unknown');
  });

  it('R20 lets no peer vote twice, and not the machine itself', () => {
    expect(judged('nnn', {}, ['p-1', 'p-1', 'p-1']).result).toBe('Unknown');
    expect(judged('nnnnn', {}, ['p-1', 'p-1', 's-1', 's-1', 'p-2']).result).toBe('Unknown');
    expect(judged('k', {}, ['s-1']).result).toBe('Unknown');
  });

  it('R20 knows nothing of a machine that no peer was asked about', () => {
    const subject = { name: 's-1', silence: undefined };
    expect(judgePeerAnswers(subject, () => [answer('KubeletAnswers')], NOW)).toEqual({
      result: 'Unknown',
      peers: [],
    });
  });

  it('R20 never takes a machine for dead by the answer of one peer, whatever the others answer', () => {
    const letter = fc.constantFrom('k', 'o', 'u', '.');
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 5 }), fc.constantFrom('n', 'r'), (others, liar) => {
        expect(['Refused', 'NoAnswer']).not.toContain(judged([...others, liar].join('')).result);
      }),
    );
  });

  it('R20 never takes a machine for dead that one peer reached', () => {
    const letter = fc.constantFrom('k', 'o', 'r', 'n', 'u', '.');
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 5 }), fc.constantFrom('k', 'o'), (others, seen) => {
        expect(isReached(judged([...others, seen].join('')).result)).toBe(true);
      }),
    );
  });
});

describe('isReached', () => {
  it('R20 takes a refused connection for no sign that the machine works', () => {
    expect(PEER_RESULTS.filter(isReached)).toEqual(['KubeletAnswers', 'PortOpen']);
  });
});
