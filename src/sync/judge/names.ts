/**
 * Checks names and kinds as far as that needs no server: an object with a problem can be applied in no cluster, so the whole
 * commit is refused before anything is written. Names that only some kinds allow are left to the server. Pure.
 */
import { GROUP } from '../../api/names.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf } from '../../kube/objects/object-id.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** RBAC names such as `system:node` and the names of aggregated APIs: one segment of a request path. */
const SEGMENT = /^(?!\.{1,2}$)[!-$&-.0-~]{1,253}$/;
const VERSION = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KIND = /^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

const LABEL_RULE = 'expected at most 63 lower-case letters, digits and -';
const SUBDOMAIN_RULE = 'expected at most 253 lower-case letters, digits, - and .';
const SEGMENT_RULE = 'expected at most 253 ASCII characters without space, / and %, and not . or ..';

export function nameProblems(object: KubeObject): string[] {
  const { kind, metadata } = object;
  const { namespace } = metadata;
  const [nameForm, nameRule] = nameFormOf(object);
  return [
    ...(isApiVersion(object.apiVersion)
      ? []
      : [problem('apiVersion', object.apiVersion, 'expected VERSION or GROUP/VERSION, such as apps/v1')]),
    ...(KIND.test(kind) ? [] : [problem('kind', kind, 'expected at most 63 letters, digits and -')]),
    ...(nameForm.test(metadata.name) ? [] : [problem('metadata.name', metadata.name, nameRule)]),
    ...(namespace === undefined || LABEL.test(namespace)
      ? []
      : [problem('metadata.namespace', namespace, LABEL_RULE)]),
    ...(isNeverStored(object) ? [`${kind} is a request and never stored: remove it from git`] : []),
  ];
}

function isApiVersion(apiVersion: string): boolean {
  const parts = apiVersion.split('/');
  const version = parts.pop() ?? '';
  return parts.length <= 1 && VERSION.test(version) && parts.every((group) => SUBDOMAIN.test(group));
}

const BUILT_IN_GROUPS = new Set(['', 'apps', 'autoscaling', 'batch', 'policy', GROUP]);
/** Groups and kinds of Kubernetes with names in other forms: `system:node`, `2001:db8::1`. */
const OTHER_NAMES = new Set(['rbac.authorization.k8s.io', 'certificates.k8s.io']);

function nameFormOf(object: KubeObject): readonly [form: RegExp, rule: string] {
  const { group, kind } = objectIdOf(object);
  if (group === '' && kind === 'Namespace') return [LABEL, LABEL_RULE];
  const isBuiltIn = BUILT_IN_GROUPS.has(group) || group.endsWith('.k8s.io');
  const isOther = OTHER_NAMES.has(group) || kind === 'IPAddress';
  return isBuiltIn && !isOther ? [SUBDOMAIN, SUBDOMAIN_RULE] : [SEGMENT, SEGMENT_RULE];
}

/** The server answers a create of one of these and stores nothing: it cannot be read, compared or deleted. */
const NEVER_STORED: Readonly<Record<string, readonly string[]>> = {
  '': ['Binding'],
  policy: ['Eviction'],
  'authentication.k8s.io': ['TokenReview', 'TokenRequest', 'SelfSubjectReview'],
  'authorization.k8s.io': [
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ],
};

function isNeverStored(object: KubeObject): boolean {
  const { group, kind } = objectIdOf(object);
  return NEVER_STORED[group]?.includes(kind) ?? false;
}

/** Formats the text as JSON, so that a control character in it cannot reach a terminal. */
function problem(field: string, text: string, rule: string): string {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `${field}: ${rule}, got ${JSON.stringify(shown)}`;
}

const MAX_SHOWN = 100;
