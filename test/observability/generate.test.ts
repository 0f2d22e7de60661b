import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DOCS_URL } from '../../src/observability/alerts/runbook.ts';
import { observabilityFiles } from '../../src/observability/generate.ts';
import { METRIC_PREFIX, METRIC_TABLE } from '../../src/observability/metrics/table.ts';
import { RULE_GROUPS } from '../../src/observability/prometheus/groups.ts';

const groups = Object.values(RULE_GROUPS).flat();
const alerts = groups.flatMap((group) => group.alerts);
const expressions = groups.flatMap(({ recordings, alerts: own }) =>
  [...recordings, ...own].map(({ expr }) => expr),
);
/** `name{label=…}`, and the names of labels in `by (…)`. */
const SELECTOR =
  /kubenode_(?<name>[a-z_]+?)(?<suffix>_bucket|_count|_sum)?(?<labels>\{[^}]*\})?(?=[^a-z_]|$)/g;

describe('what is generated from the metrics, objectives and alerts', () => {
  it.each([...observabilityFiles()])(
    'DAT-01 DAT-05 DAT-06 has checked in what is generated: %s',
    (path, text) => {
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  it('DAT-06 names only metrics and labels that exist', () => {
    const used = expressions.flatMap((expr) => [...expr.matchAll(SELECTOR)]);
    expect(used.length).toBeGreaterThan(50);
    const wrong = used.filter(({ groups: found = {} }) => !isServed(found['name'] ?? '', found));
    expect(wrong.map(([text]) => text)).toEqual([]);
  });

  it('DAT-06 has each alert once, with a severity and a section of a page that exists', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(alerts.length).toBeGreaterThan(25);
    expect(alerts.filter(({ runbookUrl }) => !isWritten(runbookUrl)).map(({ alert }) => alert)).toEqual([]);
  });

  it('DAT-06 has an alert for everything that a person must act on', () => {
    expect(alerts.map(({ alert }) => alert)).toEqual(
      expect.arrayContaining([
        'SyncStale',
        'ClusterUnreachable',
        'ReleaseStopped',
        'RolloutStalled',
        'RepairsDenied',
        'BreakerOpen',
        'ZoneDark',
        'LedgerNotWritten',
        'AgentsSilent',
        'AgentCertificateEnds',
        'HostedCertificateEndsIn7Days',
        'WebhooksRefused',
        'LeaseFlapping',
      ]),
    );
  });
});

function isServed(name: string, { suffix, labels = '' }: Readonly<Record<string, string>>): boolean {
  const metric = METRIC_TABLE.find((each) => each.name === name);
  if (!metric) return false;
  const used = [...labels.matchAll(/(\w+)[!=]/g)].map(([, label]) => label ?? '');
  const known = [...Object.keys(metric.labels ?? {}), ...(metric.type === 'histogram' ? ['le'] : [])];
  return (
    (suffix === undefined) === (metric.type !== 'histogram') && used.every((label) => known.includes(label))
  );
}

/** GitHub and most sites make the anchor of a heading by lower case. */
function isWritten(url: string): boolean {
  if (!url.startsWith(DOCS_URL)) return false;
  const [page = '', section] = url.slice(DOCS_URL.length).split('#');
  const path = `docs/${page}`;
  if (!existsSync(path)) return false;
  const sections = [...readFileSync(path, 'utf8').matchAll(/^#+ (?<title>.*)$/gm)];
  return (
    section === undefined || sections.some(({ groups: found }) => found?.['title']?.toLowerCase() === section)
  );
}

it('has no metric without its prefix in a rule', () => {
  expect(
    expressions.filter(
      (expr) => !expr.includes(METRIC_PREFIX) && !expr.includes('kubenode:') && !expr.startsWith('vector('),
    ),
  ).toEqual([]);
});
