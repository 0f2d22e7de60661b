/** Reads the file of --notifications: who gets which notices, and where. Pure. */
import { parse } from 'yaml';
import { compileSchema } from '../../../api/validation/schema-check.ts';
import { messageOf, OsError } from '../../../os/errors.ts';
import { NOTICE_SEVERITIES } from '../notice.ts';
import type { ReceiverSelection } from '../plan.ts';
import { RECEIVER_TYPES, type ReceiverType } from './shapes.ts';

export interface ReceiverConfig extends ReceiverSelection {
  readonly type: ReceiverType;
  /** Exactly one of `url` and `urlFile`. */
  readonly url?: string;
  /** A URL that is a secret, as those of Slack. */
  readonly urlFile?: string;
  /** The integration key of PagerDuty. */
  readonly keyFile?: string;
  /** The bearer token of a webhook. */
  readonly tokenFile?: string;
}

export interface NotificationConfig {
  readonly cluster?: string;
  readonly receivers: readonly ReceiverConfig[];
}

const MAX_RECEIVERS = 16;
const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

const TEXT = { type: 'string', minLength: 1, maxLength: 2048 } as const;
const NAME = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' } as const;
const RECEIVER = {
  type: 'object',
  required: ['name', 'type'],
  additionalProperties: false,
  properties: {
    name: NAME,
    type: { type: 'string', enum: RECEIVER_TYPES },
    url: { ...TEXT, pattern: '^https?://' },
    urlFile: TEXT,
    keyFile: TEXT,
    tokenFile: TEXT,
    severities: { type: 'array', minItems: 1, items: { type: 'string', enum: NOTICE_SEVERITIES } },
    sendResolved: { type: 'boolean' },
    queues: { type: 'array', minItems: 1, maxItems: 64, items: TEXT },
  },
} as const;
const CONFIG = {
  type: 'object',
  required: ['receivers'],
  additionalProperties: false,
  properties: {
    cluster: { type: 'string', minLength: 1, maxLength: 253 },
    receivers: { type: 'array', minItems: 1, maxItems: MAX_RECEIVERS, items: RECEIVER },
  },
} as const;

/** Throws BadInput, which names the file and everything that is wrong with it. */
export function parseNotifications(text: string, path: string): NotificationConfig {
  const value = parseText(text, path);
  const wrong = compileSchema(CONFIG)(value).map(({ path: field, message }) => `${field} ${message}`.trim());
  if (wrong.length > 0) throw badFile(path, wrong);
  const config = value as NotificationConfig;
  const names = config.receivers.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const problems = [
    ...config.receivers.flatMap(problemsOf),
    ...twice.map((name) => `receivers: ${name} is declared twice`),
  ];
  if (problems.length > 0) throw badFile(path, problems);
  return { ...config, receivers: config.receivers.map(withDefaults) };
}

function parseText(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw badFile(path, [`it is not YAML: ${messageOf(error).split('\n')[0]}`]);
  }
}

function badFile(path: string, problems: readonly string[]): OsError {
  return new OsError('BadInput', `notifications: ${problems.join('; ')}`, {
    where: path,
    hint: 'docs/guides/notifications.md describes the file',
  });
}

function problemsOf(receiver: ReceiverConfig): string[] {
  const where = `receiver ${receiver.name} of type ${receiver.type}`;
  return [...urlProblems(receiver), ...secretProblems(receiver)].map((problem) => `${where} ${problem}`);
}

function urlProblems({ type, url, urlFile }: ReceiverConfig): string[] {
  const urls = [url, urlFile].filter((each) => each !== undefined).length;
  if (urls === 1 || (urls === 0 && type === 'PagerDuty')) return [];
  return ['needs either url or urlFile'];
}

const SECRETS = { Webhook: 'tokenFile', Slack: undefined, PagerDuty: 'keyFile' } as const;

function secretProblems(receiver: ReceiverConfig): string[] {
  const own = SECRETS[receiver.type];
  const foreign = (['tokenFile', 'keyFile'] as const).filter((field) => field !== own && receiver[field]);
  const missing = own === 'keyFile' && receiver.keyFile === undefined ? ['needs keyFile'] : [];
  return [...foreign.map((field) => `takes no ${field}`), ...missing];
}

/** Every event of PagerDuty calls a person, so by default only those that are meant to. Its incidents stay open until they are resolved. */
function withDefaults(receiver: ReceiverConfig): ReceiverConfig {
  if (receiver.type !== 'PagerDuty') return receiver;
  const hasUrl = receiver.url !== undefined || receiver.urlFile !== undefined;
  return { severities: ['page'], sendResolved: true, ...(hasUrl ? {} : { url: PAGERDUTY_URL }), ...receiver };
}
