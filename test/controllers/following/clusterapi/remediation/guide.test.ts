import { describe, expect, it } from 'vitest';
import { clusterApiCrds } from '../../../../../src/api/clusterapi/crds.ts';
import { clusterApiObjects } from '../../../../../src/api/clusterapi/installation.ts';
import { listAt, textAt, valueAt } from '../../../../../src/kube/objects/json.ts';
import { checkRule } from '../../../../../src/rules/rule-tests.ts';
import { guideObject } from '../../../../support/cluster-api/guide.ts';

const CRDS = clusterApiCrds();

describe('repairs before replacement, as the guide has them', () => {
  it('CAP-09 has a rule that compiles, and whose tests pass', async () => {
    expect(await checkRule(guideObject('NodeRemedier')['spec'])).toEqual([]);
  });

  it('CAP-09 names the rule in the template, and the template in the health check', () => {
    const template = guideObject('KubenodeRemediationTemplate');
    const { metadata } = guideObject('NodeRemedier');
    expect(textAt(template, 'spec', 'template', 'spec', 'rule')).toBe(metadata.name);
    const check = guideObject('MachineHealthCheck');
    expect(valueAt(check, 'spec', 'remediation', 'templateRef')).toEqual({
      apiVersion: template.apiVersion,
      kind: template.kind,
      name: template.metadata.name,
    });
    expect(check.metadata.namespace).toBe(template.metadata.namespace);
  });

  it('CAP-09 has kinds of the contract: namespaced, the template with the suffix, and with its label', () => {
    expect(CRDS.map((crd) => [textAt(crd, 'spec', 'names', 'kind'), textAt(crd, 'spec', 'scope')])).toEqual([
      ['KubenodeRemediation', 'Namespaced'],
      ['KubenodeRemediationTemplate', 'Namespaced'],
    ]);
    for (const crd of CRDS) {
      const [version] = listAt(crd, 'spec', 'versions');
      expect(crd.metadata.labels?.['cluster.x-k8s.io/v1beta2']).toBe(textAt(version, 'name'));
    }
  });

  it('CAP-09 lets the manager of Cluster API create and delete requests, by aggregation', () => {
    const role = clusterApiObjects().find(
      ({ metadata }) => metadata.labels?.['cluster.x-k8s.io/aggregate-to-manager'] === 'true',
    );
    const [requests, templates] = listAt(role, 'rules');
    expect(valueAt(requests, 'verbs')).toEqual(expect.arrayContaining(['get', 'create', 'delete']));
    expect(valueAt(requests, 'resources')).toEqual(['kubenoderemediations']);
    expect(valueAt(templates, 'verbs')).toEqual(['get', 'list', 'watch']);
  });
});
