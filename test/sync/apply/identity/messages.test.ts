import { describe, expect, it } from 'vitest';
import type { MissingAccess } from '../../../../src/sync/apply/identity/access-reviews.ts';
import {
  impersonationText,
  missingAccessText,
  unknownAccessText,
} from '../../../../src/sync/apply/identity/messages.ts';

const WEB = { unit: 'web', account: { namespace: 'shop', name: 'deployer' } };
const START = 'nothing of unit web is written: ServiceAccount shop/deployer may not ';

function lacks(verb: MissingAccess['verb'], resource: string, namespace = 'shop'): MissingAccess {
  return { verb, resource, namespace };
}

describe('missingAccessText', () => {
  it.each<[what: string, missing: readonly MissingAccess[], expected: string]>([
    [
      'the verbs of one resource together',
      [lacks('create', 'services'), lacks('patch', 'services')],
      'create, patch services in namespace shop. Run: kubectl create role kubenode-unit-web-create-patch-services -n shop --verb=create,patch --resource=services && kubectl create rolebinding kubenode-unit-web-create-patch-services -n shop --role=kubenode-unit-web-create-patch-services --serviceaccount=shop:deployer',
    ],
    [
      'a resource without namespace, for which a ClusterRole is needed',
      [lacks('patch', 'namespaces', '')],
      'patch namespaces. Run: kubectl create clusterrole kubenode-unit-web-patch-namespaces --verb=patch --resource=namespaces && kubectl create clusterrolebinding kubenode-unit-web-patch-namespaces --clusterrole=kubenode-unit-web-patch-namespaces --serviceaccount=shop:deployer',
    ],
  ])('S29 names in one message what is missing: %s', (_, missing, expected) => {
    expect(missingAccessText(WEB, missing)).toBe(`${START}${expected}`);
  });

  it.each<[what: string, missing: readonly MissingAccess[], expected: RegExp]>([
    [
      'a verb once, that two versions of a kind need',
      [lacks('patch', 'deployments.apps'), lacks('patch', 'deployments.apps')],
      /may not patch deployments\.apps in namespace shop\. Run: (?!.*the others)/,
    ],
    [
      'each namespace of a resource',
      [lacks('patch', 'services'), lacks('patch', 'services', 'web')],
      /may not patch services in namespace shop, patch services in namespace web\. Run: .*, and the same for the others$/,
    ],
  ])('S29 names in one message %s', (_, missing, expected) => {
    expect(missingAccessText(WEB, missing)).toMatch(expected);
  });

  it('S29 names another role for each grant, because the role of an earlier one exists', () => {
    const grants = [lacks('create', 'services'), lacks('delete', 'services'), lacks('create', 'configmaps')];
    const roles = grants.map((grant) => / create role (\S+) /.exec(missingAccessText(WEB, [grant]))?.[1]);
    expect(roles).toEqual([
      'kubenode-unit-web-create-services',
      'kubenode-unit-web-delete-services',
      'kubenode-unit-web-create-configmaps',
    ]);
  });

  it('S29 stays short enough for a status when hundreds of permissions are missing', () => {
    const many = Array.from({ length: 300 }, (_, index) => lacks('patch', `kind-${index}.example.com`));
    const text = missingAccessText(WEB, many);
    expect(text).toContain('patch kind-2.example.com in namespace shop and 297 more. Run: ');
    expect(text).toMatch(/, and the same for the others$/);
    expect(text.length).toBeLessThan(600);
  });
});

describe('the answer of a server', () => {
  it('S29 is truncated behind the command that helps', () => {
    const answer = 'x'.repeat(5000);
    expect(impersonationText(WEB, answer).length).toBeLessThan(800);
    expect(unknownAccessText(WEB, answer).length).toBeLessThan(400);
  });
});
