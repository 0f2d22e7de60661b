/** Words for ValidatingAdmissionPolicies: each fails closed, denies and audits, and has one binding of its name. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { GROUP } from '../names.ts';
import { installed } from '../principals.ts';

const ADMISSION = 'admissionregistration.k8s.io/v1';
const VERSION = 'v1alpha1';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

export interface Match {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly Operation[];
  readonly resources: readonly string[];
}

export interface Validation {
  readonly expression: string;
  /** For people; also what they read when `messageExpression` fails. */
  readonly message: string;
  readonly messageExpression?: string;
}

export interface Params {
  readonly kind: 'DefenderLedger' | 'Machine';
  /** What the binding says of the parameters: which, and what their absence means. */
  readonly ref: Readonly<Record<string, unknown>>;
}

export interface Policy {
  readonly name: string;
  readonly description: string;
  readonly match: readonly Match[];
  /** Of what lives in namespaces, only what lives in these. */
  readonly namespaces?: readonly string[];
  /** Only requests for which all of these hold are looked at. An error in one of them is a refusal. */
  readonly conditions?: Readonly<Record<string, string>>;
  readonly params?: Params;
  readonly variables?: Readonly<Record<string, string>>;
  readonly validations: readonly Validation[];
}

export function ours(resources: readonly string[], operations: readonly Operation[]): Match {
  return { apiGroups: [GROUP], apiVersions: ['*'], operations, resources };
}

/** The policy and its binding. */
export function policy(declared: Policy): readonly KubeObject[] {
  const { name, description, conditions = {}, params, variables = {}, validations } = declared;
  const metadata = installed(name, description);
  const kind = 'ValidatingAdmissionPolicy';
  const spec = {
    failurePolicy: 'Fail',
    ...(params === undefined ? {} : { paramKind: { apiVersion: `${GROUP}/${VERSION}`, kind: params.kind } }),
    matchConstraints: constraintsOf(declared),
    ...optional('matchConditions', named(conditions)),
    ...optional('variables', named(variables)),
    validations: validations.map((validation) => ({ ...validation, reason: 'Forbidden' })),
  };
  const binding = {
    policyName: name,
    ...(params === undefined ? {} : { paramRef: params.ref }),
    validationActions: ['Deny', 'Audit'],
  };
  return [
    { apiVersion: ADMISSION, kind, metadata, spec },
    { apiVersion: ADMISSION, kind: `${kind}Binding`, metadata, spec: binding },
  ];
}

function constraintsOf({ match, namespaces }: Policy): Record<string, unknown> {
  if (namespaces === undefined) return { resourceRules: match };
  const byName = { key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces };
  return { resourceRules: match, namespaceSelector: { matchExpressions: [byName] } };
}

function named(
  expressions: Readonly<Record<string, string>>,
): readonly { name: string; expression: string }[] {
  return Object.entries(expressions).map(([name, expression]) => ({ name, expression }));
}

function optional(key: string, list: readonly unknown[]): Record<string, unknown> {
  return list.length === 0 ? {} : { [key]: list };
}
