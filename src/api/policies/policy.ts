/** Builds ValidatingAdmissionPolicies. Each one fails closed, denies and audits, and has one binding of the same name. */
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
  /** Message for people, also used when `messageExpression` fails. */
  readonly message: string;
  readonly messageExpression?: string;
}

export interface Params {
  readonly kind: 'DefenderLedger' | 'Machine';
  /** `paramRef` of the binding: which parameter objects, and what to do without one. */
  readonly ref: Readonly<Record<string, unknown>>;
}

export interface Policy {
  readonly name: string;
  readonly description: string;
  readonly match: readonly Match[];
  /** Limits namespaced objects to these namespaces. */
  readonly namespaces?: readonly string[];
  /** Only requests for which all of these are true are validated. An error in one of them denies the request. */
  readonly conditions?: Readonly<Record<string, string>>;
  readonly params?: Params;
  readonly variables?: Readonly<Record<string, string>>;
  readonly validations: readonly Validation[];
}

export function matchKubenode(resources: readonly string[], operations: readonly Operation[]): Match {
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

function optional(key: string, celList: readonly unknown[]): Record<string, unknown> {
  return celList.length === 0 ? {} : { [key]: celList };
}
