import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { metricsHint, metricsObjects } from '../../../../src/cli/commands/install/metrics.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { Resource } from '../../../../src/kube/objects/object.ts';
import { testIo } from '../../../support/test-io.ts';

const MONITOR: Resource = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
};

async function kindsWith(
  metrics: true | 'operator' | 'annotations',
  resourceFor: () => Promise<Resource>,
): Promise<readonly string[]> {
  const objects = await metricsObjects({ hub: true, metrics }, { resourceFor });
  return [...new Set(objects.map(({ kind }) => kind))];
}

const served = async (): Promise<Resource> => await Promise.resolve(MONITOR);
const refusing = (code: 'NotFound' | 'Forbidden') => async (): Promise<Resource> =>
  await Promise.reject(new KubeError(code, 'refused'));

describe('metricsObjects', () => {
  it('DAT-08 takes the kinds of the operator where they are served, or where a person asks for them', async () => {
    const operator = ['Service', 'ServiceMonitor', 'PrometheusRule', 'ConfigMap'];
    expect(await kindsWith(true, served)).toEqual(operator);
    expect(await kindsWith('operator', refusing('NotFound'))).toEqual(operator);
    expect(await kindsWith(true, refusing('NotFound'))).toEqual(['Service', 'ConfigMap']);
    expect(await kindsWith('annotations', served)).toEqual(['Service', 'ConfigMap']);
  });

  it('does not take a discovery that failed for a cluster without the operator', async () => {
    await expect(kindsWith(true, refusing('Forbidden'))).rejects.toThrow('refused');
  });

  it('adds nothing without the option', async () => {
    expect(await metricsObjects({ hub: true }, undefined)).toEqual([]);
    expect(metricsHint({ hub: true })).toBe('');
  });
});

describe('kubenode install --metrics --print', () => {
  const args = ['install', '--hub', '--image', 'a', '--print'];

  it('prints what the named way needs, and refuses to guess it without a server', async () => {
    const io = testIo();
    expect(await runCommandLine(io, [...args, '--metrics=annotations'])).toBe(0);
    const kinds = [...parseAllDocuments(io.stdout)].map((document) => String(document.get('kind')));
    expect(kinds).toEqual(expect.arrayContaining(['Deployment', 'Service', 'ConfigMap']));
    const second = testIo();
    expect(await runCommandLine(second, [...args, '--metrics'])).toBe(64);
    expect(second.stderr).toContain('pass --metrics=operator or --metrics=annotations');
  });

  it('refuses metrics of nothing', async () => {
    const io = testIo();
    expect(await runCommandLine(io, ['install', '--metrics'])).toBe(64);
    expect(io.stderr).toContain('--metrics needs --hub, --cluster, --hosting or --console');
  });
});
