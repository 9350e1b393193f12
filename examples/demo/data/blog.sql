-- The blog of the demo. `make demo` makes examples/demo/blog.db of it; delete that file to begin again.
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name VARCHAR(255) NOT NULL UNIQUE,
    email VARCHAR(255)
);
CREATE TABLE categories (
    id INTEGER PRIMARY KEY,
    name VARCHAR(255) NOT NULL
);
CREATE TABLE posts (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    category_id INTEGER NOT NULL REFERENCES categories (id),
    title VARCHAR(255) NOT NULL,
    visits INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE comments (
    id INTEGER PRIMARY KEY,
    post_id INTEGER NOT NULL REFERENCES posts (id),
    message TEXT NOT NULL
);
CREATE TABLE tags (
    id INTEGER PRIMARY KEY,
    name VARCHAR(255) NOT NULL UNIQUE
);
CREATE TABLE post_tags (
    post_id INTEGER NOT NULL REFERENCES posts (id),
    tag_id INTEGER NOT NULL REFERENCES tags (id),
    PRIMARY KEY (post_id, tag_id)
);
CREATE INDEX comments_of_post ON comments (post_id);
INSERT INTO users VALUES (1, 'ada', 'ada@example.org'), (2, 'grace', NULL);
INSERT INTO categories VALUES (1, 'announcement'), (2, 'article');
INSERT INTO posts VALUES
    (1, 1, 1, 'Blog started', 120), (2, 2, 2, 'On compilers', 88), (3, 1, 2, 'On engines', 240);
INSERT INTO comments VALUES
    (1, 1, 'Welcome!'), (2, 1, 'At last'), (3, 2, 'I learned a lot'), (4, 3, 'More, please'), (5, 3, 'Great');
INSERT INTO tags VALUES (1, 'news'), (2, 'history'), (3, 'machines');
INSERT INTO post_tags VALUES (1, 1), (2, 2), (2, 3), (3, 2), (3, 3);
