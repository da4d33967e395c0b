'use strict';
// Cases of workflows that were started with a search attribute and keep all attributes up to date.
const answers = require('./answers');
const { SEARCH_ATTRIBUTES } = require('../../lib/domain/names');
const { campaign } = require('./campaign-cases');
const { resolved, update, WHO } = require('./decision-cases');
const { IMAGE, real } = require('./real-cases');
const { scriptedCase: scripted } = require('./scripted-case');

const { created, running, unchanged, completedRecord, downloaded, unconfirmed } = answers;
const goesWell = { 'media.pollVideos': [running, completedRecord], 'media.downloadVideo': [downloaded] };

/** Start options with search attributes, as the client sets them. */
const searchable = (facts) => ({
  typedSearchAttributes: Object.entries(facts).map(([name, value]) => {
    if (!SEARCH_ATTRIBUTES.includes(name)) throw new Error(`No search attribute ${name}`);
    return { key: { name, type: 'KEYWORD' }, value };
  }),
});
const start = searchable({ MediaModel: 'cine-1', MediaAccount: 'default' });

const searchableCases = [
  scripted(
    'generateVideo.searchable-completed',
    'completed',
    (name) => ({ 'media.createVideo': [created(name)], ...goesWell }),
    { start },
  ),
  scripted(
    'generateVideo.searchable-failed',
    'failed',
    (name) => ({
      'media.createVideo': [created(name)],
      'media.pollVideos': [answers.record('failed', 'failed')],
    }),
    { start },
  ),
  // Its outcome is removed when a person resubmits it.
  scripted(
    'generateVideo.searchable-resubmitted',
    'completed',
    (name) => ({
      'media.createVideo': [unconfirmed('http_502'), answers.inItsSend(created(name))],
      'media.resolveUnconfirmed': [resolved('resubmit', null)],
      ...goesWell,
    }),
    {
      start,
      input: { onUnconfirmed: 'wait' },
      act: (handle) => update(handle, 'resubmit', WHO),
    },
  ),
  // The next run keeps its attributes.
  scripted(
    'generateVideo.searchable-continued',
    'completed',
    (name) => ({
      'media.createVideo': [created(name)],
      'media.pollVideos': [running, unchanged, unchanged, unchanged, completedRecord],
      'media.downloadVideo': [downloaded],
    }),
    { start, continuing: true },
  ),
  scripted('awaitVideo.searchable-completed', 'completed', () => goesWell, {
    start: searchable({ MediaTaskId: 'searchable', MediaAccount: 'default@00000000' }),
    args: (name) => ({ video: answers.video(name), polling: 'own' }),
  }),
  real('generateImage.searchable-completed', 'completed', IMAGE('a found poster'), {
    start: searchable({ MediaModel: 'image-2', MediaAccount: 'default' }),
  }),
  scripted(
    'generateVideo.labelled',
    'completed',
    (name) => ({ 'media.createVideo': [created(name)], ...goesWell }),
    { input: { labels: { tenant: 'acme', shop: 'north' } } },
  ),
  campaign(
    'runCampaign.labelled',
    'completed',
    [{ id: 'film', model: 'cine-1', prompt: '[run:1s] a labelled kite', duration: 2, 'label:shop': 'north' }],
    { labels: { tenant: 'acme' }, fairness: 'label:tenant', priority: 2 },
  ),
  campaign(
    'runCampaign.searchable-completed',
    'completed',
    [
      { id: 'film', model: 'cine-1', prompt: '[run:1s] a found kite', duration: 2 },
      { id: 'image', operation: 'image', model: 'image-2', prompt: 'a found boat', size: '512x512' },
    ],
    {},
    undefined,
    searchable({ MediaCampaign: 'runCampaign.searchable-completed', MediaAccount: 'default' }),
  ),
];

module.exports = { searchableCases };
