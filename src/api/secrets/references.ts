/** Lists every field of our kinds that names a Secret in NAMESPACE, and what the Secret is used for. A test compares it with the kinds. */
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

/** The use of a Secret. A Secret has one use, so a kubeconfig is never sent to a git server. */
export type SecretUse =
  | 'kubeconfig'
  | 'git'
  | 'git-ca'
  | 'git-webhook'
  | 'maintenance-webhook'
  | 'git-status'
  | 'git-push'
  | 'sops'
  | 'revisions'
  | 'ssh'
  | 'bmc';

interface SecretField {
  readonly kind: string;
  readonly path: readonly string[];
  readonly use: SecretUse;
  /** The default of the key in the kind. */
  readonly key?: string;
}

export const SECRET_REFERENCE_FIELDS: readonly SecretField[] = [
  field('Cluster', 'spec.connection.credentialsRef', 'kubeconfig', 'kubeconfig'),
  field('Pipeline', 'spec.source.credentialsRef', 'git', 'token'),
  field('Pipeline', 'spec.source.caRef', 'git-ca', 'ca.crt'),
  field('Pipeline', 'spec.source.webhookSecretRef', 'git-webhook', 'secret'),
  field('Pipeline', 'spec.source.statusCredentialsRef', 'git-status', 'token'),
  field('Pipeline', 'spec.source.writeCredentialsRef', 'git-push', 'token'),
  field('Pipeline', 'spec.source.sopsKeysRef', 'sops', 'age.agekey'),
  field('Machine', 'spec.import.credentialsRef', 'ssh', 'ssh-privatekey'),
  field('Machine', 'spec.bmc.credentialsRef', 'bmc'),
];

function field(kind: string, path: string, use: SecretUse, key?: string): SecretField {
  return { kind, path: path.split('.'), use, ...(key === undefined ? {} : { key }) };
}

/** Holds what one object references in a Secret. */
export interface SecretReference {
  readonly name: string;
  readonly key: string;
  readonly use: SecretUse;
  /** The object with the reference, for errors: `Pipeline fleet`. */
  readonly user: string;
}

/** The object without its kind, because objects from a list have none. */
type Named = Pick<KubeObject, 'metadata'>;

/** Returns the references of an object to Secrets, in the order of SECRET_REFERENCE_FIELDS. */
export function secretReferences(kind: string, object: Named): SecretReference[] {
  return SECRET_REFERENCE_FIELDS.filter((each) => each.kind === kind).flatMap(
    ({ path, use, key: defaultKey }) => {
      const name = textAt(object, ...path, 'name');
      const key = textAt(object, ...path, 'key') ?? defaultKey;
      return name === undefined || key === undefined
        ? []
        : [{ name, key, use, user: `${kind} ${object.metadata.name}` }];
    },
  );
}
