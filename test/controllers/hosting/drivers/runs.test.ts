import { describe, expect, it } from 'vitest';
import {
  memberRuns,
  settingsWith,
  settledDifferences,
} from '../../../../src/controllers/hosting/drivers/runs.ts';
import { planeSpec, settledPlane } from '../../../support/hosting/objects.ts';

describe('what members are started with', () => {
  it('gives each member its version and its flags, and the emulated version to all but etcd', () => {
    const runs = memberRuns(settledPlane('v1.36.3', { scheduler: { extraArgs: { v: '4' } } }), '1.35');
    expect(runs['etcd-4']).toEqual(runs.etcd);
    expect(runs).toMatchObject({
      etcd: { version: 'v3.6.8', flags: { 'quota-backend-bytes': '2147483648' } },
      'kube-apiserver': { version: 'v1.36.3', flags: { 'emulated-version': '1.35' } },
      'kube-controller-manager': { version: 'v1.36.3', flags: { 'emulated-version': '1.35' } },
      'kube-scheduler': { version: 'v1.36.3', flags: { v: '4', 'emulated-version': '1.35' } },
    });
  });

  it('turns runs into the settings with which the members get these flags', () => {
    const { settings } = settledPlane();
    expect(settingsWith(settings, memberRuns(settledPlane()))).toEqual(settings);
    expect(settingsWith(settings, memberRuns(settledPlane(), '1.35')).apiServer).toEqual({
      'emulated-version': '1.35',
    });
  });

  it('finds what differs from the spec, whatever the order of flags', () => {
    const spec = planeSpec();
    const flags = { v: '2', profiling: 'true' };
    const settled = { ...settledPlane(), settings: { ...spec.settings, scheduler: flags } };
    const reversed = { ...spec.settings, scheduler: { profiling: 'true', v: '2' } };
    expect(settledDifferences(settled, { ...spec, settings: reversed })).toEqual([]);
    expect(settledDifferences(settled, { ...spec, version: 'v1.36.4' })).toEqual([
      'version is "v1.36.3", not "v1.36.4"',
      'scheduler is {"profiling":"true","v":"2"}, not {}',
    ]);
    expect(settledDifferences(undefined, spec)).toEqual([]);
  });
});
