import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../../src/api/enums.ts';
import type { MachineSilence, PeerAnswer } from '../../../src/api/generated/types.ts';
import { probesText, viewProbes } from '../../../src/views/machine/probes.ts';
import { ago, NOW } from '../../support/builders.ts';

const SINCE = ago(120);

/** Each peer answers with one result; undefined is a peer that does not answer. */
function shown(results: readonly (PeerResult | undefined)[], address = '10.0.0.1'): string | undefined {
  const peers = results.map((_, index) => `p-${index + 1}`);
  const silence: MachineSilence = { address, port: 10_250, since: SINCE, peers };
  const answers = (peer: string): readonly PeerAnswer[] => {
    const result = results[peers.indexOf(peer)];
    const times = { requestedAt: SINCE, since: ago(100), lastProbeTime: ago(20) };
    return result ? [{ machine: 's-1', result, ...times }] : [];
  };
  const view = viewProbes({ name: 's-1', silence }, answers, NOW);
  return view && probesText(view, NOW);
}

const ASKED = '3 asked to probe 10.0.0.1:10250 for 2m';

describe('probesText', () => {
  it.each<[results: readonly (PeerResult | undefined)[], text: string]>([
    [
      ['KubeletAnswers', 'NoAnswer', 'NoAnswer'],
      `KubeletAnswers by p-1: its kubelet answers, so its way to the API server may be cut; ${ASKED}`,
    ],
    [
      ['NoAnswer', 'PortOpen', 'PortOpen'],
      `PortOpen by p-2, p-3: its kubelet accepts connections and does not answer; ${ASKED}`,
    ],
    [
      ['Refused', 'Refused', undefined],
      `Refused by p-1, p-2: its host is up and refuses connections to the kubelet; ${ASKED}`,
    ],
    [
      ['NoAnswer', 'NoAnswer', 'Unknown'],
      `NoAnswer by p-1, p-2: most peers cannot connect to its kubelet; ${ASKED}`,
    ],
    [
      ['NoAnswer', undefined, 'Unknown'],
      `Unknown: no peer reports that it connected, and no majority that it could not; ${ASKED}`,
    ],
    [
      ['NoAnswer', 'NoAnswer'],
      'Unknown: no peer reports that it connected, and so few peers do not show that the machine is down; 2 asked to probe 10.0.0.1:10250 for 2m',
    ],
  ])('R20 shows what the peers found who answered %j', (results, text) => {
    expect(shown(results)).toBe(text);
  });

  it('writes an IPv6 address with its port', () => {
    expect(shown(['NoAnswer'], '2001:db8::1')).toContain('probe [2001:db8::1]:10250 for');
  });
});

describe('viewProbes', () => {
  it('R20 shows nothing of a machine that no peer was asked about', () => {
    expect(viewProbes({ name: 's-1' }, () => [], NOW)).toBeUndefined();
  });
});
