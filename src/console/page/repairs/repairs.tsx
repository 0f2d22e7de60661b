/** The repairs as timelines on one time axis. */
import type { JSX } from 'preact';
import { repairNeedsAttention } from '../../state/attention.ts';
import { machineAddress } from '../../state/pages/address.ts';
import { type TrackWindow, trackWindow } from '../../state/pages/repair-track.ts';
import type { ConsoleState, MomentLine, RepairCard } from '../../state/state.ts';
import { absenceText, type UnreadPart, unreadOf } from '../../state/unread.ts';
import { Ago, Badge, Empty, Only, Page, Since, Why } from '../parts/parts.tsx';
import { Axis, Track } from './track.tsx';

interface RepairsProps extends Pick<ConsoleState, 'repairs'> {
  readonly now: number;
  /** The only cluster whose repairs are shown. Undefined: all are. */
  readonly only: string | undefined;
  readonly unread: readonly UnreadPart[];
}

/** Already in order: open ones first, then the newest. New ones arrive at the end. */
const ORDER: readonly string[] = ['NeedsPerson', 'Running', 'Failed', 'Ended', 'Succeeded'];

export function RepairsPage({ repairs, now, only, unread }: RepairsProps): JSX.Element {
  const shown = sortRepairs(repairs).filter(([, { cluster }]) => only === undefined || cluster === only);
  const axis = trackWindow(
    shown.map(([, card]) => card),
    now,
  );
  return (
    <Page id="repairs" title="Repairs">
      <Only page="repairs" cluster={only} />
      {shown.length === 0 && (
        <Empty text={absenceText('No repairs', unreadOf(unread, only))} command="kubenode remedy list" />
      )}
      {shown.length > 0 && <Axis axis={axis} />}
      <div class="rows">
        {shown.map(([key, card]) => (
          <Repair key={key} card={card} now={now} axis={axis} />
        ))}
      </div>
    </Page>
  );
}

function sortRepairs(repairs: ConsoleState['repairs']): readonly [string, RepairCard][] {
  return Object.entries(repairs).toSorted(
    ([, one], [, other]) =>
      Number(repairNeedsAttention(other)) - Number(repairNeedsAttention(one)) ||
      ORDER.indexOf(one.state) - ORDER.indexOf(other.state) ||
      ((one.created ?? '') < (other.created ?? '') ? 1 : -1),
  );
}

interface RepairProps {
  readonly card: RepairCard;
  readonly now: number;
  /** Absent: only in words. */
  readonly axis?: TrackWindow;
}

export function Repair({ card, now, axis }: RepairProps): JSX.Element {
  const { cluster, machine, rule, rung, attempt, phase, state, evidence, steps, why, outcome } = card;
  return (
    <article class="card repair" aria-label={`Repair of ${machine} in ${cluster}`}>
      <div class="title">
        <h3>
          <a href={machineAddress(`${cluster}/${machine}`)}>{machine}</a>{' '}
          <span class="soft">in {cluster}</span>
        </h3>
        <Badge state={state} /> <span>{phase}</span> <Since since={card.created} now={now} />
        <span class="soft">
          Rule {rule}, rung {rung}, attempt {attempt}
        </span>
      </div>
      {axis && <Track card={card} axis={axis} />}
      {evidence.length > 0 && <p class="soft">{evidence.join('; ')}</p>}
      <ol class="timeline" aria-label="Timeline">
        {card.timeline.map((moment) => (
          <Moment key={moment.what} moment={moment} now={now} />
        ))}
      </ol>
      {steps.length > 0 && (
        <ul class="plain" aria-label="Steps">
          {steps.map(({ step, state: result, because }, index) => (
            <li key={index}>
              {step}: {result} {because}
            </li>
          ))}
        </ul>
      )}
      {why && <Why why={why} />}
      {outcome !== undefined && <p>{outcome}</p>}
    </article>
  );
}

function Moment({ moment, now }: { readonly moment: MomentLine; readonly now: number }): JSX.Element {
  const { what, at, because } = moment;
  if (at === undefined) return <li class="open">○ {what}: not yet</li>;
  return (
    <li>
      ● {what} <Ago at={at} now={now} /> <span class="soft">{because}</span>
    </li>
  );
}
