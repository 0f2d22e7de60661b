import { describe, expect, it } from 'vitest';
import { createPermitCheck, declaredPermitWarnings } from '../../../src/cli/checks/rule-permits.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';

const apiVersion = 'kubenode.dev/v1alpha1';

function rule(service: string): KubeObject {
  const plan = [{ step: 'CollectDiagnostics' }, { step: 'RestartService', with: { service } }];
  const spec = { ladder: [{ name: 'restart', plan }] };
  return { apiVersion, kind: 'NodeRemedier', metadata: { name: 'web-down' }, spec };
}

function jobsFile(content: string, merge = 'Replace'): KubeObject {
  const files = [{ path: '/etc/kubenode/jobs.json', content, merge }];
  const metadata = { name: 'jobs-1.0.0' };
  return { apiVersion, kind: 'MachineComponent', metadata, spec: { files } };
}

function refusals(service: string, ...others: readonly KubeObject[]): readonly string[] {
  const object = rule(service);
  return createPermitCheck([object, ...others])(object).map(({ path, message }) => `${path}: ${message}`);
}

function warnings(service: string, ...others: readonly KubeObject[]): readonly string[] {
  const objects = [rule(service), ...others].map((object) => ({ object, source: {} }));
  const target = (name: string): RenderedTarget => ({
    target: name,
    digest: '',
    units: [{ unit: 'web', digest: '', objects }],
  });
  return declaredPermitWarnings([target('test'), target('prod')]);
}

const REFUSED =
  'spec.ladder[0].plan[1].with.service: step RestartService: no /etc/kubenode/jobs.json of this commit permits web: ' +
  'add it to services in the MachineComponent that writes the file';

describe('a rule that names a service which the agents do not permit', () => {
  it('is refused where the commit decides what hosts permit', () => {
    expect(refusals('web', jobsFile('{"services": ["kubelet"]}'))).toEqual([REFUSED]);
    expect(warnings('web', jobsFile('{"services": ["kubelet"]}'))).toEqual([]);
  });

  it('is warned of once where hosts may have a file that is not from git', () => {
    expect(refusals('web')).toEqual([]);
    expect(warnings('web')).toEqual([
      'NodeRemedier web-down: spec.ladder[0].plan[1].with.service: agents do not permit RestartService web by default: ' +
        'unless their hosts have another /etc/kubenode/jobs.json, declare that file in a MachineComponent, with web in services',
    ]);
  });

  it.each<[string, string, readonly KubeObject[]]>([
    ['by default', 'kubelet', []],
    ['by default on machines without the component', 'kubelet', [jobsFile('{"services": ["web"]}')]],
    ['by a file of the commit', 'web', [jobsFile('{"services": ["web"]}')]],
    ['by one of its versions', 'web', [jobsFile('{"services": []}'), jobsFile('{"services": ["web"]}')]],
  ])('is accepted where they permit it %s', (_, service, others) => {
    expect([...refusals(service, ...others), ...warnings(service, ...others)]).toEqual([]);
  });

  it.each<[string, KubeObject]>([
    ['is merged with the file of the host', jobsFile('{"services": []}', 'Json')],
    ['has a placeholder', jobsFile('{"services": ["${machine.name}"]}')],
    ['is damaged', jobsFile('{')],
  ])('is not refused where the content %s', (_, file) => {
    expect(refusals('web', file)).toEqual([]);
    expect(warnings('web', file)).toHaveLength(1);
  });
});
