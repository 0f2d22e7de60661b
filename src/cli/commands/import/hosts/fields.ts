/** Defines the fields of hosts.yaml. Each function explains why a value is refused; undefined: it is accepted. Pure. */
import { FINGERPRINT } from '../../../../api/patterns.ts';
import { labelKeyReason, labelValueReason, nodeNameReason } from '../../../../api/validation/names.ts';
import { isRecord } from '../../../../kube/objects/json.ts';
import { isHostKeyAlgorithm } from '../../../../providers/ssh/host-keys.ts';
import { addressReason, portReason, userReason } from '../../../../providers/ssh/target.ts';

export interface FieldRules {
  readonly fields: Readonly<Record<string, (value: unknown) => string | undefined>>;
  readonly required: readonly string[];
}

const FINGERPRINT_FORM = new RegExp(FINGERPRINT.regex);

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
  for (const [key, text] of Object.entries(value)) {
    const reason = labelReason(key, text);
    if (reason !== undefined) return reason;
  }
  const own = Object.keys(value).find((key) => key.startsWith('kubenode.dev/'));
  return own === undefined ? undefined : 'labels that begin with kubenode.dev/ are set by kubenode itself';
}

function labelReason(key: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return `expected a text as the value of ${key}: quote numbers and true`;
  return labelKeyReason(key) ?? labelValueReason(value);
}

/** The zone becomes the value of a label of the Node. */
function zoneReason(zone: string): string | undefined {
  return zone === '' ? 'expected the value of a label' : labelValueReason(zone);
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
    name: textRule(nodeNameReason),
    zone: textRule(zoneReason),
    labels: labelsReason,
    hostKeys: listOfKeys,
    via: (value) => (isRecord(value) ? undefined : 'expected an object with address'),
  },
  required: ['address'],
};
