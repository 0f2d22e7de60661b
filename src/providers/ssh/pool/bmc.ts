/** Reads the BMC of a host of a pool. Its fields are those of Machine.spec.bmc, which no API server checks in a pool. Pure. */
import type { MachineBMC } from '../../../api/generated/types.ts';
import { BMC_SYSTEM, BMC_URL, FINGERPRINT, OBJECT_NAME, type Pattern, UUID } from '../../../api/patterns.ts';
import { isRecord, textAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';

/** Returns what is wrong with the entry, for people; undefined for a host without BMC. */
export function bmcReason(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (!isRecord(value)) return 'expected an object as bmc';
  const secret = textAt(value, 'credentialsRef', 'name');
  return (
    textReason('address', value['address'], BMC_URL) ??
    textReason('certificateFingerprint', value['certificateFingerprint'], FINGERPRINT) ??
    textReason('credentialsRef.name', secret, OBJECT_NAME) ??
    optionalReason('system', value['system'], BMC_SYSTEM) ??
    optionalReason('systemUUID', value['systemUUID'], UUID)
  );
}

function optionalReason(field: string, value: unknown, pattern: Pattern): string | undefined {
  return value === undefined ? undefined : textReason(field, value, pattern);
}

/** The limit of Machine.spec.bmc.address. */
const MAX_LENGTH = 253;

function textReason(field: string, value: unknown, { regex, description }: Pattern): string | undefined {
  const isValid = typeof value === 'string' && value.length <= MAX_LENGTH && new RegExp(regex).test(value);
  return isValid ? undefined : `bmc.${field}: expected ${description}`;
}

/** Returns the BMC of an entry that `bmcReason` accepts, without any other fields. */
export function readBmc(value: unknown): MachineBMC | undefined {
  const [address, certificateFingerprint] = [
    textAt(value, 'address'),
    textAt(value, 'certificateFingerprint'),
  ];
  const name = textAt(value, 'credentialsRef', 'name');
  if (address === undefined || certificateFingerprint === undefined || name === undefined) return undefined;
  return {
    address,
    certificateFingerprint,
    credentialsRef: { name },
    ...optional('system', textAt(value, 'system')),
    ...optional('systemUUID', textAt(value, 'systemUUID')),
  };
}
