import type { JSX } from 'preact';
import { repairNeedsAttention } from '../state/attention.ts';
import type { ConsoleState, MomentLine, RepairCard } from '../state/state.ts';
import { Ago, Badge, Section, Since, Why } from './parts.tsx';

interface RepairsProps extends Pick<ConsoleState, 'repairs'> {
  readonly now: number;
}

/** Already in order: open ones first, then the newest. New ones arrive at the end. */
const ORDER: readonly string[] = ['NeedsPerson', 'Running', 'Failed', 'Ended', 'Succeeded'];

export function Repairs({ repairs, now }: RepairsProps): JSX.Element {
  const others = sortRepairs(repairs).filter(([, card]) => !repairNeedsAttention(card));
  const none = Object.keys(repairs).length === 0 ? 'No repairs.' : 'No others: see Needs attention.';
  return (
    <Section id="repairs" title="Repairs">
      {others.length === 0 && <p>{none}</p>}
      <div class="cards">
        {others.map(([key, card]) => (
          <Repair key={key} card={card} now={now} />
        ))}
      </div>
    </Section>
  );
}

export function sortRepairs(repairs: ConsoleState['repairs']): readonly [string, RepairCard][] {
  return Object.entries(repairs).toSorted(
    ([, one], [, other]) =>
      ORDER.indexOf(one.state) - ORDER.indexOf(other.state) ||
      ((one.created ?? '') < (other.created ?? '') ? 1 : -1),
  );
}

export function Repair({ card, now }: { readonly card: RepairCard; readonly now: number }): JSX.Element {
  const { cluster, machine, rule, rung, attempt, phase, state, evidence, steps, why, outcome } = card;
  return (
    <article class="card" aria-label={`Repair of ${machine} in ${cluster}`}>
      <div class="title">
        <h3>
          {machine} <span class="soft">in {cluster}</span>
        </h3>
        <Badge state={state} /> <span>{phase}</span> <Since since={card.created} now={now} />
      </div>
      <p>
        Rule {rule}, rung {rung}, attempt {attempt}
      </p>
      <p class="soft">{evidence.join('; ')}</p>
      <ol class="timeline" aria-label="Timeline">
        {card.timeline.map((moment) => (
          <Moment key={moment.what} moment={moment} now={now} />
        ))}
      </ol>
      <ul aria-label="Steps">
        {steps.map(({ step, state: result, because }, index) => (
          <li key={index}>
            {step}: {result} {because}
          </li>
        ))}
      </ul>
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
