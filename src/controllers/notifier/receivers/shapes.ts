/** The request of a notice for each type of receiver. Pure. */
import type { Notice } from '../notice.ts';

export const RECEIVER_TYPES = ['Webhook', 'Slack', 'PagerDuty'] as const;
export type ReceiverType = (typeof RECEIVER_TYPES)[number];

export interface NoticeContent {
  readonly notice: Notice;
  /** The name of the cluster for people; undefined: none is configured. */
  readonly cluster: string | undefined;
}

export interface ReceiverSecrets {
  /** The bearer token of a webhook, or the integration key of PagerDuty. */
  readonly secret: string | undefined;
}

export interface NoticeRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const JSON_TYPE = { 'content-type': 'application/json', 'user-agent': 'kubenode' } as const;

export function requestFor(
  type: ReceiverType,
  content: NoticeContent,
  secrets: ReceiverSecrets,
): NoticeRequest {
  return SHAPES[type](content, secrets);
}

const SHAPES: Readonly<
  Record<ReceiverType, (content: NoticeContent, secrets: ReceiverSecrets) => NoticeRequest>
> = {
  Webhook: webhook,
  Slack: slack,
  PagerDuty: pagerDuty,
};

function webhook({ notice, cluster }: NoticeContent, { secret }: ReceiverSecrets): NoticeRequest {
  const authorization = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  return {
    headers: { ...JSON_TYPE, ...authorization, 'idempotency-key': notice.id },
    body: JSON.stringify({ version: 1, cluster, ...notice }),
  };
}

/** An incoming webhook of Slack, which others such as Mattermost accept, too. */
function slack({ notice, cluster }: NoticeContent): NoticeRequest {
  const { event, severity, queue, runbook, job } = notice;
  const title = event === 'Resolved' ? 'resolved' : severity;
  const where = cluster === undefined ? '' : ` in ${cluster}`;
  const lines = [
    `*${escaped(title)}* for ${escaped(queue)}: ${escaped(notice.summary)}${escaped(where)}`,
    `\`kubenode why machine ${escaped(notice.machine)}\`, job ${escaped(job)}`,
    ...(runbook === undefined ? [] : [`runbook: ${escaped(runbook)}`]),
  ];
  return { headers: JSON_TYPE, body: JSON.stringify({ text: lines.join('\n') }) };
}

/** Returns text without markup: https://docs.slack.dev/messaging/formatting-message-text */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const PAGERDUTY_SEVERITIES = { page: 'critical', ticket: 'warning', info: 'info' } as const;
const MAX_SUMMARY = 1024;

/** An event of the Events API v2: events with the same key are one incident. */
function pagerDuty({ notice, cluster }: NoticeContent, { secret }: ReceiverSecrets): NoticeRequest {
  if (notice.event === 'Resolved') {
    const event = { routing_key: secret, event_action: 'resolve', dedup_key: notice.incident };
    return { headers: JSON_TYPE, body: JSON.stringify(event) };
  }
  const { incident, severity, summary, at, machine, rule, faultClass, runbook } = notice;
  const event = {
    routing_key: secret,
    event_action: 'trigger',
    dedup_key: incident,
    client: 'kubenode',
    payload: {
      summary: summary.slice(0, MAX_SUMMARY),
      source: cluster === undefined ? machine : `${cluster}/${machine}`,
      severity: PAGERDUTY_SEVERITIES[severity],
      timestamp: at,
      component: rule,
      group: notice.queue,
      class: faultClass,
      custom_details: { id: notice.id, job: notice.job, commit: notice.commit, evidence: notice.evidence },
    },
    ...(isLink(runbook) ? { links: [{ href: runbook, text: 'Runbook' }] } : {}),
  };
  return { headers: JSON_TYPE, body: JSON.stringify(event) };
}

/** A runbook may be any text, and PagerDuty refuses an event with a link that is not a URL. */
function isLink(text: string | undefined): boolean {
  return text !== undefined && /^https?:\/\//.test(text) && URL.canParse(text);
}
