/** NodeRemediers for tests: valid by default. */
import type { NodeRemedier } from '../../src/api/generated/types.ts';
import type { Metadata } from '../../src/kube/objects/object.ts';
import { createRemedierSpec } from '../rules/sample-rule.ts';

/** A rule with four tests, with changes by JSON pointer into its spec. */
export function remedier(
  changes: Readonly<Record<string, unknown>> = {},
  metadata: Partial<Metadata> = {},
): NodeRemedier {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name: 'kernel-hang', ...metadata },
    spec: createRemedierSpec(changes) as unknown as NodeRemedier['spec'],
  };
}
