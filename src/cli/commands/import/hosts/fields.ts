/** Defines the fields of hosts.yaml. Each function explains why a value is refused; undefined: it is accepted. Pure. */
import { FINGERPRINT } from '../../../../api/patterns.ts';
import { isRecord } from '../../../../kube/objects/json.ts';
import { isHostKeyAlgorithm } from '../../../../providers/ssh/host-keys.ts';
import { addressReason, portReason, userReason } from '../../../../providers/ssh/target.ts';

export interface FieldRules {
  readonly fields: Readonly<Record<string, (value: unknown) => string | undefined>>;
  readonly required: readonly string[];
}

/** A name of a Machine is the name of its Node. */
const MACHINE_NAME = /^(?=.{1,63}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const LABEL_KEY = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const ZONE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const FINGERPRINT_FORM = new RegExp(FINGERPRINT.regex);

export function isMachineName(name: string): boolean {
  return MACHINE_NAME.test(name);
}

const address = textRule(addressReason);
const user = textRule(userReason);
const listOfKeys = (value: unknown): string | undefined =>
  Array.isArray(value) ? undefined : 'expected a list';

function port(value: unknown): string | undefined {
  return typeof value === 'number' && portReason(value) === undefined
    ? undefined
    : 'expected an integer from 1 to 65535';
}

/** Explains why these cannot be labels of a Machine and its Node; undefined: they can. */
export function labelsReason(value: unknown): string | undefined {
  if (!isRecord(value)) return 'expected an object';
  const isValid = Object.entries(value).every(
    ([key, text]) => LABEL_KEY.test(key) && typeof text === 'string' && LABEL_VALUE.test(text),
  );
  if (!isValid) return 'expected labels: quote numbers and true';
  const own = Object.keys(value).find((key) => key.startsWith('kubenode.dev/'));
  return own === undefined ? undefined : 'labels that begin with kubenode.dev/ are set by kubenode itself';
}

function textRule(reasonFor: (text: string) => string | undefined): (value: unknown) => string | undefined {
  return (value) => (typeof value === 'string' ? reasonFor(value) : 'expected a text');
}

function patternRule(pattern: RegExp, description: string): (value: unknown) => string | undefined {
  return textRule((text) => (pattern.test(text) ? undefined : `expected ${description}`));
}

export const HOST_KEY_FIELDS: FieldRules = {
  fields: {
    algorithm: textRule((text) =>
      isHostKeyAlgorithm(text) ? undefined : 'expected a type of key, such as ssh-ed25519',
    ),
    fingerprint: patternRule(FINGERPRINT_FORM, 'a fingerprint as `ssh-keygen -l` prints it: SHA256:…'),
  },
  required: ['algorithm', 'fingerprint'],
};

export const VIA_FIELDS: FieldRules = {
  fields: { address, port, user, hostKeys: listOfKeys },
  required: ['address'],
};

export const HOST_FIELDS: FieldRules = {
  fields: {
    address,
    port,
    user,
    name: patternRule(MACHINE_NAME, 'a name of a Node of at most 63 characters'),
    zone: patternRule(ZONE, 'the value of a label'),
    labels: labelsReason,
    hostKeys: listOfKeys,
    via: (value) => (isRecord(value) ? undefined : 'expected an object with address'),
  },
  required: ['address'],
};
