/** Reads what the files of log monitors and of custom plug-ins have in common. */
import { KUBELET_CONDITIONS } from '../../../api/names.ts';
import { ConfigFields } from './fields.ts';
import type { DefaultCondition } from './monitor.ts';

/** The maximum length of the reason of an Event, as the API server limits it. */
const MAX_REASON = 128;

export function readConditions(fields: ConfigFields): readonly DefaultCondition[] {
  const found = fields.list('conditions').map((value, index) => readCondition(fields, value, index));
  const types = found.map(({ type }) => type);
  const double = types.find((type, index) => types.indexOf(type) !== index);
  if (double !== undefined) throw fields.error('conditions', `the type ${double} is there twice`);
  return found;
}

function readCondition(outer: ConfigFields, value: unknown, index: number): DefaultCondition {
  const fields = new ConfigFields(value, outer.placeOf(`conditions[${index}]`), [
    'type',
    'reason',
    'message',
  ]);
  const type = fields.text('type');
  if (KUBELET_CONDITIONS.includes(type)) {
    throw fields.error('type', `${type} is a condition of the kubelet: the detector may not write it`);
  }
  return { type, reason: readReason(fields), message: fields.optionalText('message') ?? '' };
}

export function readReason(fields: ConfigFields): string {
  const reason = fields.text('reason');
  if (reason.length > MAX_REASON) throw fields.error('reason', `longer than ${MAX_REASON} characters`);
  return reason;
}

/** Returns the condition that the rule raises. A temporary rule has none. */
export function readRuleCondition(
  fields: ConfigFields,
  conditions: readonly DefaultCondition[],
): { readonly condition?: string } {
  const type = fields.text('type');
  if (type === 'temporary') return {};
  if (type !== 'permanent') throw fields.error('type', `expected temporary or permanent, got "${type}"`);
  const condition = fields.text('condition');
  if (conditions.some((each) => each.type === condition)) return { condition };
  throw fields.error('condition', `${condition} is not in the list of conditions of this file`);
}

/** Matches paths of Windows: node-problem-detector ships files for Windows beside those for Linux. */
const WINDOWS_PATH = /^[a-z]:|\\|\.(?:ps1|exe|bat|cmd)$/i;

export function requireAbsolutePath(fields: ConfigFields, field: string, path: string): string {
  if (path.startsWith('/')) return path;
  if (WINDOWS_PATH.test(path)) {
    throw fields.error(field, `${JSON.stringify(path)} is a path of Windows: use a file for Linux`);
  }
  throw fields.error(field, `expected an absolute path, got ${JSON.stringify(path)}`);
}

/** Returns the place of a rule in its file, with the reason of the rule, for messages. */
export function rulePlace(value: unknown, index: number): string {
  const reason = typeof value === 'object' && value !== null && 'reason' in value ? value.reason : undefined;
  return typeof reason === 'string' ? `rules[${index}] (${reason})` : `rules[${index}]`;
}
