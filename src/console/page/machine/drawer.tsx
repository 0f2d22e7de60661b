/** One machine: its phase and since when, what it waits for and what ends the wait, its rollout, its grant and its repairs. */
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { findTile } from '../../state/fleet.ts';
import type { Shown } from '../../state/shown.ts';
import type { MachineTile, TileCordon } from '../../state/state.ts';
import { unreadParts } from '../../state/unread.ts';
import { Badge, Since, Unblock, Why } from '../parts/parts.tsx';
import { Repair } from '../repairs/repairs.tsx';
import { Answer } from './answer.tsx';
import { Detail } from './detail.tsx';
import { Events } from './events.tsx';

interface DetailProps {
  readonly shown: Shown;
  /** Its key. */
  readonly machine: string;
  readonly now: number;
  readonly close: () => void;
}

export function MachineDrawer({ shown, machine, now, close }: DetailProps): JSX.Element {
  const title = useRef<HTMLHeadingElement>(null);
  // At once, for a person may press a key as soon as the detail is there. The same for Escape.
  useLayoutEffect(() => title.current?.focus(), []);
  useEscape(close);
  const tile = findTile(shown.groups, machine);
  const version = useMemo(() => machineVersion(shown, machine, tile), [shown, machine, tile]);
  const stale = shown.state.clusters[machine.slice(0, machine.indexOf('/'))]?.stale;
  return (
    <section class="card detail" role="dialog" aria-labelledby="detail-title">
      <button type="button" class="close" onClick={close}>
        Close (Esc)
      </button>
      <h2 id="detail-title" ref={title} tabIndex={-1}>
        {machine}
      </h2>
      {stale !== undefined && <p class="badge bad">! last state: {stale}</p>}
      {tile && <Facts machine={machine} tile={tile} now={now} />}
      {!tile && stale === undefined && <p>{absentText(shown)}</p>}
      {tile && <Answer machine={machine} version={version} />}
      <Work shown={shown} machine={machine} now={now} />
      {tile && <OfMachine {...{ machine, tile, version, now }} />}
    </section>
  );
}

interface OfMachineProps extends FactsProps {
  readonly version: string;
}

function OfMachine({ machine, tile, version, now }: OfMachineProps): JSX.Element {
  return (
    <>
      <Detail machine={machine} version={tile} now={now} />
      <Events machine={machine} version={version} now={now} />
    </>
  );
}

/** Returns another text after each change of the machine, of its grant and of its repairs: what is read on demand is read again then. */
function machineVersion({ state }: Shown, machine: string, tile: MachineTile | undefined): string {
  const repairs = Object.values(state.repairs).filter(
    (card) => `${card.cluster}/${card.machine}` === machine,
  );
  return JSON.stringify([tile, state.grants[machine], repairs]);
}

/** Without the hub, the cluster of the machine may be one that is not read. */
function absentText({ state }: Shown): string {
  return unreadParts(state).length === 0
    ? 'This machine was deleted.'
    : 'This machine is not known: not all is read.';
}

/** Wherever the focus is: a person may have clicked a tile or a text since the detail opened. A dialog over it closes first. */
function useEscape(close: () => void): void {
  useLayoutEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape' && !document.querySelector('dialog[open]')) close();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [close]);
}

interface FactsProps extends Pick<DetailProps, 'machine' | 'now'> {
  readonly tile: MachineTile;
}

function Facts({ machine, tile, now }: FactsProps): JSX.Element {
  return (
    <>
      <p>
        <Badge state={tile.p} /> <Since since={tile.s} now={now} />
      </p>
      <dl>
        <dt>Zone</dt>
        <dd>{tile.z ?? 'none'}</dd>
        {tile.l !== undefined && (
          <>
            <dt>Pool</dt>
            <dd>{tile.l}</dd>
          </>
        )}
        {tile.c && (
          <>
            <dt>Node</dt>
            <dd>
              <Cordon machine={machine} mark={tile.c} now={now} />
            </dd>
          </>
        )}
        <dt>Runs</dt>
        <dd>{tile.v ?? 'nothing reported'}</dd>
      </dl>
      <h3>Why this waits</h3>
      {tile.why ? <Why why={tile.why} /> : <p>It waits for nothing.</p>}
    </>
  );
}

interface CordonProps extends Pick<DetailProps, 'machine' | 'now'> {
  readonly mark: TileCordon;
}

function Cordon({ machine, mark: { g, s }, now }: CordonProps): JSX.Element {
  const by = g === undefined ? 'a person or another tool' : `kubenode for grant ${g}`;
  const node = machine.slice(machine.indexOf('/') + 1);
  return (
    <>
      cordoned by {by} <Since since={s} now={now} />
      <Unblock text={g === undefined ? `kubectl uncordon ${node}` : ''} />
    </>
  );
}

function Work({ shown: { state }, machine, now }: Omit<DetailProps, 'close'>): JSX.Element {
  const rollouts = Object.values(state.rollouts).flatMap(({ cluster, set, batch, inWork }) => {
    const work = inWork.find((each) => `${cluster}/${each.machine}` === machine);
    return work ? [{ set, batch, work }] : [];
  });
  const repairs = Object.entries(state.repairs).filter(
    ([, card]) => `${card.cluster}/${card.machine}` === machine,
  );
  const grant = state.grants[machine];
  return (
    <>
      {rollouts.map(({ set, batch, work }) => (
        <p key={set}>
          In batch {batch?.place} of rollout {set}: {work.state} {work.because}
        </p>
      ))}
      {grant && (
        <p>
          Grant {grant.id}: {grant.action}, {grant.state} to {grant.holder}
        </p>
      )}
      {repairs.map(([key, card]) => (
        <Repair key={key} card={card} now={now} />
      ))}
    </>
  );
}
