import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiagnosisCause, diagnose } from '../../../src/api/diagnosis/diagnose.ts';
import type { PowerSign, Sign, SilenceEvidence } from '../../../src/api/diagnosis/evidence.ts';

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
const evidence = fc.record({ agent: sign, kubelet: sign, power, peers: sign });

describe('diagnose', () => {
  it.each(ROWS.map((row) => [row.slice(0, 4).join(', '), row] as const))(
    'R20 tells from agent, kubelet, power and peers %s what the cause is, or that it is unknown',
    (_, [agent, kubelet, powered, peers, cause, confidencePercent]) => {
      expect(diagnose({ agent, kubelet, power: powered, peers })).toEqual(
        cause === undefined ? undefined : { cause, confidencePercent },
      );
    },
  );

  it('R20 names no cause in the machine while its neighbors are silent, but for power that was read', () => {
    fc.assert(
      fc.property(evidence, (given: SilenceEvidence) => {
        const { cause } = diagnose({ ...given, agent: 'Silent', kubelet: 'Silent', peers: 'Silent' }) ?? {};
        expect(cause).toBe(given.power === 'Off' ? 'power-off' : 'network');
      }),
    );
  });

  it('R20 never concludes from what is unknown that a host hangs', () => {
    fc.assert(
      fc.property(evidence, (given: SilenceEvidence) => {
        const isHang = diagnose(given)?.cause === 'host-hang';
        expect(isHang).toBe(
          JSON.stringify([given.agent, given.kubelet, given.power, given.peers]) ===
            JSON.stringify(['Silent', 'Silent', 'On', 'Alive']),
        );
      }),
    );
  });
});
