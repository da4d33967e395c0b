import { childEnvironment } from '../../../src/stores/files/this-machine';

it('[C5.4a] a child gets no secret of the user, and all that it needs', () => {
  const env = {
    PATH: '/bin',
    HOME: '/home/ada',
    HTTPS_PROXY: 'http://proxy',
    MEDIA_API_KEY: 'k',
    MEDIA_JOURNAL: 'postgres://app:pw@db/x',
    AWS_SECRET_ACCESS_KEY: 's',
    PGPASSWORD: 'p',
    PAGER: 'less',
  };
  const { PATH, HOME, HTTPS_PROXY, PAGER } = env;
  expect(childEnvironment(env)).toEqual({ PATH, HOME, HTTPS_PROXY, PAGER });
  expect(childEnvironment(env, /_proxy$/i)).toEqual({ PATH, HOME, PAGER });
});
