import { describe, expect, it } from 'vitest';
import {
  declaredClusterObjects,
  declaredFleetPolicies,
} from '../../../../src/cli/plan/fleetlimits/declared.ts';
import { fleetPolicy } from '../../../sync/fleetlimits/builders.ts';
import { clusterIn, commitOf } from './builders.ts';

const KIND = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'FleetPolicy', metadata: { name: 'fleet' } };

describe('declaredFleetPolicies', () => {
  it('reads what the commit declares for the hub, and leaves out what the schema refuses', () => {
    const refused = { ...KIND, metadata: { name: 'refused' }, spec: { allowanceSeconds: 'x' } };
    const commit = commitOf(fleetPolicy(), refused, clusterIn('eu', 'a'));
    expect(declaredFleetPolicies(commit).map(({ metadata }) => metadata.name)).toEqual(['fleet']);
    expect(declaredClusterObjects(commit).map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(declaredFleetPolicies(undefined)).toEqual([]);
  });

  it('fills in the defaults of the kind', () => {
    const spec = { clusterSelector: { all: true }, rates: [{ name: 'reboots', max: 20 }] };
    const [found] = declaredFleetPolicies(commitOf({ ...KIND, spec }));
    expect(found?.spec).toEqual({
      clusterSelector: { all: true },
      killSwitch: { engaged: false, scope: 'All' },
      concurrency: [],
      rates: [{ name: 'reboots', max: 20, actions: [], windowSeconds: 3600, floor: 1 }],
      allowanceSeconds: 300,
      cutOff: { countSeconds: 3600 },
    });
  });
});
