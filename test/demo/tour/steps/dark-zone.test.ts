import { describe, expect, it } from 'vitest';
import type { Cluster, Machine } from '../../../../src/api/generated/types.ts';
import {
  newJobsReason,
  notDeniedReason,
  notShownReason,
  otherReadinessReason,
} from '../../../../src/demo/tour/steps/dark-zone.ts';
import { node } from '../../../support/builders.ts';

function waiting(name: string, ...remedyWaits: readonly object[]): Machine {
  return { metadata: { name }, status: { remedyWaits } } as unknown as Machine;
}

function reported(name: string, ...incidents: readonly object[]): Cluster {
  const conditions = [{ type: 'Reachable', status: 'True' }];
  return { metadata: { name }, spec: {}, status: { conditions, incidents } } as unknown as Cluster;
}

describe('a zone that is dark', () => {
  it('has only Nodes whose readiness is unknown', () => {
    const [dark, lit] = [node('m-1', 'Unknown'), node('m-2')];
    expect(otherReadinessReason([dark])).toBeUndefined();
    expect(otherReadinessReason([dark, lit])).toBe('m-2 is Ready');
  });

  it('is one in which the Defender denies what the rule wants, on each machine', () => {
    const denied = waiting('a', { rule: 'dead-machine', reason: 'ZoneDark' });
    expect(notDeniedReason([denied])).toBeUndefined();
    const otherRule = waiting('b', { rule: 'kernel-hang', reason: 'ZoneDark' });
    const otherReason = waiting('c', { rule: 'dead-machine', reason: 'BreakerOpen' });
    expect(notDeniedReason([denied, otherRule, otherReason])).toBe('b: no wait, c: BreakerOpen');
  });

  it('is the first thing that the hub reports of its cluster', () => {
    const zone = { reason: 'ZoneDark', message: 'zone west is dark', zone: 'west' };
    expect(notShownReason([reported('prod', zone)])).toBeUndefined();
    expect(notShownReason([reported('test', zone), reported('prod')])).toBe('nothing endangers prod');
    const controllers = { reason: 'NoControllers', message: 'no controllers answer' };
    expect(notShownReason([reported('prod', controllers, zone)])).toMatch(/^prod: no controllers answer\. /);
  });

  it('has no job that was not there before', () => {
    expect(newJobsReason(['old'], ['old'])).toBeUndefined();
    expect(newJobsReason(['old'], ['old', 'new'])).toBe('jobs were created: new');
  });
});
