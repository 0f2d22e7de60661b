import { describe, expect, it } from 'vitest';
import { planEndOfLife } from '../../../../src/controllers/hosting/plan/throw-away.ts';
import { ago } from '../../../support/builders.ts';
import { decisionText, hostingInput, type InputParts } from '../../../support/hosting/objects.ts';

const OLD = 'it was created 900 s ago: this hosting keeps no throw-away cluster longer (--max-age)';

function readyFor(seconds: number): InputParts {
  return { status: { conditions: [], hosted: { readyAt: ago(seconds) } } };
}

function createdAgo(seconds: number): InputParts {
  return { metadata: { creationTimestamp: ago(seconds) } };
}

describe('the time of a throw-away cluster', () => {
  it.each<readonly [string, InputParts, string]>([
    ['has been ready for 59 of 60 s', readyFor(59), 'nothing'],
    ['has been ready for 60 s', readyFor(60), 'DeleteCluster: it has been ready for 60 s'],
    ['is protected', { ...readyFor(60), deletion: { protection: true } }, 'nothing'],
    ['was never ready', createdAgo(899), 'nothing'],
    ['was never ready for too long', createdAgo(900), `DeleteCluster: ${OLD}`],
    ['is too old, and was ready late', { ...createdAgo(900), ...readyFor(1) }, `DeleteCluster: ${OLD}`],
    ['is too old, and protected', { ...createdAgo(900), deletion: { protection: true } }, 'nothing'],
    ['is too old, and has no end', { ...createdAgo(900), hosted: {} }, 'nothing'],
  ])('of one that %s', (_, parts, expected) => {
    const hosted = parts.hosted ?? { ttlSecondsAfterReady: 60 };
    const decision = planEndOfLife(hostingInput({ ...parts, hosted, input: { maxAgeSeconds: 900 } }));
    expect(decisionText(decision ?? {})).toBe(expected);
  });

  it('is held by the kill switch, because a deletion cannot be taken back', () => {
    const parts = {
      ...readyFor(900),
      hosted: { ttlSecondsAfterReady: 60 },
      input: { halt: 'ann: incident' },
    };
    expect(decisionText(planEndOfLife(hostingInput(parts)) ?? {})).toBe('wait KillSwitch');
  });
});
