import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../../src/api/generated/types.ts';
import { planeView } from '../../../../../src/cli/commands/cluster/hosted/plane-view.ts';
import { type HostedParts, hostedCluster } from '../../../../support/hosting/objects.ts';

const SINCE = '2030-01-01T00:00:00Z';
const HOSTED_SPEC = hostedCluster().spec;

function condition(type: string, status: 'True' | 'False' | 'Unknown', message = '') {
  return { type, status, reason: 'X', message, lastTransitionTime: SINCE };
}

function reported(
  ready: 'True' | 'False' | 'Unknown',
  stalled: 'True' | 'False' = 'False',
  hosted: NonNullable<Cluster['status']>['hosted'] = {},
): HostedParts {
  const conditions = [condition('ControlPlaneReady', ready), condition('ControlPlaneStalled', stalled)];
  return { status: { conditions, hosted } };
}

describe('the state of a hosted cluster', () => {
  it.each<readonly [string, HostedParts, string]>([
    ['no hosting has acted on', {}, 'Pending'],
    ['only sync has reported on', { status: { conditions: [condition('Synced', 'True')] } }, 'Pending'],
    ['is being created', reported('False'), 'Creating'],
    ['is ready', reported('True'), 'Ready'],
    ['is ready, and whose change needs a person', reported('True', 'True'), 'Ready'],
    ['was ready before', reported('False', 'False', { readyAt: SINCE }), 'NotReady'],
    ['cannot be observed', reported('Unknown'), 'Unknown'],
    ['needs a person', reported('False', 'True'), 'Stalled'],
    ['is deleted', { ...reported('True'), metadata: { deletionTimestamp: SINCE } }, 'Deleting'],
  ])('that %s', (_, parts, state) => {
    expect(planeView(hostedCluster(parts))?.state).toBe(state);
  });

  it('has the message of what it waits for and since when, before that of its condition', () => {
    const waiting = { reason: 'PortInUse', message: 'port 1', since: SINCE };
    expect(planeView(hostedCluster(reported('False', 'True', { waiting })))?.message).toBe(
      'PortInUse: port 1 (since 2030-01-01T00:00:00Z)',
    );
    const silent = { status: { conditions: [condition('ControlPlaneReady', 'Unknown', 'no answer')] } };
    expect(planeView(hostedCluster(silent))?.message).toBe('no answer (since 2030-01-01T00:00:00Z)');
    const ready = { status: { conditions: [condition('ControlPlaneReady', 'True', 'it answers')] } };
    expect(planeView(hostedCluster(ready))?.message).toBe('it answers');
    expect(planeView(hostedCluster())?.message).toContain('start one with kubenode hosting');
  });

  it('tells when its time is over, and nothing for one without an end', () => {
    const hosted = { ttlSecondsAfterReady: 3600 };
    const ready = reported('True', 'False', { readyAt: SINCE });
    expect(planeView(hostedCluster({ ...ready, hosted }))?.endsAt).toBe('2030-01-01T01:00:00Z');
    expect(planeView(hostedCluster({ hosted }))).not.toHaveProperty('endsAt');
    expect(planeView(hostedCluster(ready))).not.toHaveProperty('endsAt');
    const kept = { ...ready, hosted, deletion: { protection: true } };
    expect(planeView(hostedCluster(kept))).not.toHaveProperty('endsAt');
  });

  it('is none for a cluster that the hub only syncs', () => {
    const { hosted: _, ...spec } = HOSTED_SPEC;
    const cluster = { ...hostedCluster(), spec: { ...spec, connection: { inCluster: true } } };
    expect(planeView(cluster)).toBeUndefined();
  });
});
