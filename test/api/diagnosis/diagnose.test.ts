import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiagnosisCause, diagnose } from '../../../src/api/diagnosis/diagnose.ts';
import type { PowerSign, Sign, SilenceEvidence } from '../../../src/api/diagnosis/evidence.ts';
import { PEER_RESULTS, type PeerResult } from '../../../src/api/enums.ts';

type Row = readonly [
  agent: Sign,
  kubelet: Sign,
  power: PowerSign,
  peers: Sign,
  cause: DiagnosisCause | undefined,
  percent?: number,
];

const ROWS: readonly Row[] = [
  ['Alive', 'Alive', 'On', 'Alive', 'none', 95],
  ['Alive', 'Alive', 'Off', 'Silent', 'none', 95],
  ['Silent', 'Alive', 'Unknown', 'Unknown', 'agent-only', 95],
  ['Alive', 'Silent', 'Unknown', 'Unknown', 'kubelet-only', 95],
  ['Silent', 'Silent', 'Off', 'Unknown', 'power-off', 95],
  ['Silent', 'Silent', 'Off', 'Silent', 'power-off', 95],
  ['Silent', 'Silent', 'On', 'Alive', 'host-hang', 80],
  ['Silent', 'Silent', 'On', 'Silent', 'network', 80],
  ['Silent', 'Silent', 'Unknown', 'Silent', 'network', 80],
  ['Silent', 'Silent', 'Unknown', 'Alive', 'unreachable', 60],
  ['Silent', 'Silent', 'On', 'Unknown', undefined],
  ['Silent', 'Silent', 'Unknown', 'Unknown', undefined],
  ['Unknown', 'Silent', 'Off', 'Alive', undefined],
  ['Silent', 'Unknown', 'Off', 'Alive', undefined],
  ['Unknown', 'Alive', 'On', 'Alive', undefined],
  ['Alive', 'Unknown', 'On', 'Alive', undefined],
];

const sign = fc.constantFrom<Sign>('Alive', 'Silent', 'Unknown');
const power = fc.constantFrom<PowerSign>('On', 'Off', 'Unknown');
const peerProbes = fc.constantFrom<PeerResult>(...PEER_RESULTS);
const evidence = fc.record({ agent: sign, kubelet: sign, power, peers: sign, peerProbes });

const PROBED: readonly (readonly [
  power: PowerSign,
  peers: Sign,
  probes: PeerResult,
  cause: DiagnosisCause | undefined,
  percent?: number,
])[] = [
  ['On', 'Alive', 'NoAnswer', 'host-hang', 80],
  ['On', 'Alive', 'Refused', 'host-hang', 80],
  ['On', 'Alive', 'PortOpen', undefined],
  ['On', 'Alive', 'KubeletAnswers', 'network', 80],
  ['Unknown', 'Alive', 'NoAnswer', 'unreachable', 80],
  ['Unknown', 'Alive', 'Refused', 'host-hang', 80],
  ['Unknown', 'Alive', 'PortOpen', undefined],
  ['Unknown', 'Alive', 'KubeletAnswers', 'network', 80],
  ['Off', 'Alive', 'NoAnswer', 'power-off', 95],
  ['Off', 'Silent', 'Refused', 'power-off', 95],
  // The power is that of another host.
  ['Off', 'Alive', 'PortOpen', undefined],
  ['Off', 'Silent', 'KubeletAnswers', undefined],
  ['On', 'Silent', 'NoAnswer', 'network', 80],
  ['On', 'Silent', 'Refused', 'network', 80],
  ['Unknown', 'Silent', 'PortOpen', 'network', 80],
  ['On', 'Unknown', 'NoAnswer', undefined],
  ['Unknown', 'Unknown', 'Refused', undefined],
  ['Unknown', 'Unknown', 'PortOpen', undefined],
  ['Unknown', 'Unknown', 'KubeletAnswers', 'network', 80],
];

describe('diagnose', () => {
  it.each(ROWS.map((row) => [row.slice(0, 4).join(', '), row] as const))(
    'R20 tells from agent, kubelet, power and peers %s what the cause is, or that it is unknown',
    (_, [agent, kubelet, powered, peers, cause, confidencePercent]) => {
      expect(diagnose({ agent, kubelet, power: powered, peers, peerProbes: 'Unknown' })).toEqual(
        cause === undefined ? undefined : { cause, confidencePercent },
      );
    },
  );

  it.each(PROBED.map((row) => [row.slice(0, 3).join(', '), row] as const))(
    'R20 tells from power, peers and probes %s why a machine is silent, or that it is unknown',
    (_, [powered, peers, probes, cause, confidencePercent]) => {
      const silent = { agent: 'Silent', kubelet: 'Silent' } as const;
      expect(diagnose({ ...silent, power: powered, peers, peerProbes: probes })).toEqual(
        cause === undefined ? undefined : { cause, confidencePercent },
      );
    },
  );

  it('R20 names no cause in a machine that a peer reached', () => {
    const reached = fc.constantFrom<PeerResult>('KubeletAnswers', 'PortOpen');
    fc.assert(
      fc.property(evidence, reached, (given: SilenceEvidence, found) => {
        const { cause } = diagnose({ ...given, agent: 'Silent', kubelet: 'Silent', peerProbes: found }) ?? {};
        expect([undefined, 'network']).toContain(cause);
      }),
    );
  });

  it('R20 names no cause in the machine while its neighbors are silent, but for power that was read', () => {
    fc.assert(
      fc.property(evidence, (given: SilenceEvidence) => {
        const silent = { ...given, agent: 'Silent', kubelet: 'Silent', peers: 'Silent' } as const;
        const isReached = ['KubeletAnswers', 'PortOpen'].includes(given.peerProbes);
        const off = isReached ? undefined : 'power-off';
        expect(diagnose(silent)?.cause).toBe(given.power === 'Off' ? off : 'network');
      }),
    );
  });

  it('R20 never concludes from what is unknown that a host hangs', () => {
    fc.assert(
      fc.property(evidence, (given: SilenceEvidence) => {
        const { agent, kubelet, power: powered, peers, peerProbes: probes } = given;
        const isSilent = agent === 'Silent' && kubelet === 'Silent' && peers === 'Alive';
        const isPowered = powered === 'On' ? !['KubeletAnswers', 'PortOpen'].includes(probes) : false;
        const isRefused = powered === 'Unknown' && probes === 'Refused';
        expect(diagnose(given)?.cause === 'host-hang').toBe(isSilent && (isPowered || isRefused));
      }),
    );
  });
});
